// SPDX-License-Identifier: BSD-2-Clause-Patent
// The figures of color_spaces.json and display_models.json of ColorVideoVDP; THIRD_PARTY.md names their licence.
#include "metrics/cvvdp/display.h"

namespace acuity::cvvdp {
namespace {

constexpr double kInch = 0.0254;

// clang-format off: tables
constexpr ColourSpace kColourSpaces[] = {
    {"Adobe RGB (1998)", Eotf::gamma, 2.2, {0.5767309, 0.185554, 0.1881852, 0.2973769, 0.6273491, 0.0752741, 0.0270343, 0.0706872, 0.9911085}},
    {"Apple RGB", Eotf::gamma, 1.8, {0.4497288, 0.3162486, 0.1844926, 0.2446525, 0.6720283, 0.0833192, 0.0251848, 0.1411824, 0.9224628}},
    {"Best RGB", Eotf::gamma, 2.2, {0.6326696, 0.2045558, 0.1269946, 0.2284569, 0.7373523, 0.0341908, 0, 0.0095142, 0.8156958}},
    {"Beta RGB", Eotf::gamma, 2.2, {0.6712537, 0.1745834, 0.1183829, 0.3032726, 0.6637861, 0.0329413, 0, 0.040701, 0.784509}},
    {"Bruce RGB", Eotf::gamma, 2.2, {0.4674162, 0.2944512, 0.1886026, 0.2410115, 0.6835475, 0.075441, 0.0219101, 0.0736128, 0.9933071}},
    {"CIE RGB", Eotf::gamma, 2.2, {0.488718, 0.3106803, 0.2006017, 0.1762044, 0.8129847, 0.0108109, 0, 0.0102048, 0.9897952}},
    {"ColorMatch RGB", Eotf::gamma, 1.8, {0.5093439, 0.3209071, 0.1339691, 0.274884, 0.6581315, 0.0669845, 0.0242545, 0.1087821, 0.6921735}},
    {"Don RGB 4", Eotf::gamma, 2.2, {0.6457711, 0.1933511, 0.1250978, 0.2783496, 0.6879702, 0.0336802, 0.0037113, 0.0179861, 0.8035125}},
    {"Ekta Space PS5", Eotf::gamma, 2.2, {0.5938914, 0.2729801, 0.0973485, 0.2606286, 0.7349465, 0.0044249, 0, 0.0419969, 0.7832131}},
    {"NTSC RGB", Eotf::gamma, 2.2, {0.6068909, 0.1735011, 0.200348, 0.2989164, 0.586599, 0.1144845, 0, 0.0660957, 1.1162243}},
    {"PAL/SECAM RGB", Eotf::gamma, 2.2, {0.430619, 0.3415419, 0.1783091, 0.2220379, 0.7066384, 0.0713236, 0.0201853, 0.1295504, 0.9390944}},
    {"ProPhoto RGB", Eotf::gamma, 1.8, {0.7976749, 0.1351917, 0.0313534, 0.2880402, 0.7118741, 8.57e-05, 0, 0, 0.82521}},
    {"SMPTE-C RGB", Eotf::gamma, 2.2, {0.3935891, 0.3652497, 0.1916313, 0.2124132, 0.7010437, 0.0865432, 0.0187423, 0.1119313, 0.9581563}},
    {"sRGB", Eotf::srgb, 0, {0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.072175, 0.0193339, 0.119192, 0.9503041}},
    {"BT.709", Eotf::srgb, 0, {0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.072175, 0.0193339, 0.119192, 0.9503041}},
    {"BT.709-linear", Eotf::linear, 0, {0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.072175, 0.0193339, 0.119192, 0.9503041}},
    {"Wide Gamut RGB", Eotf::gamma, 2.2, {0.7161046, 0.1009296, 0.1471858, 0.2581874, 0.7249378, 0.0168748, 0, 0.0517813, 0.7734287}},
    {"Display P3 Apple", Eotf::srgb, 0, {0.4866, 0.2657, 0.1982, 0.229, 0.6917, 0.0793, 0, 0.0451, 1.0437}},
    {"BT.2020-PQ", Eotf::pq, 0, {0.637, 0.1446, 0.1689, 0.2627, 0.678, 0.0593, 0, 0.0281, 1.061}},
    {"BT.2020-HLG", Eotf::hlg, 0, {0.637, 0.1446, 0.1689, 0.2627, 0.678, 0.0593, 0, 0.0281, 1.061}},
    {"BT.2020-linear", Eotf::linear, 0, {0.637, 0.1446, 0.1689, 0.2627, 0.678, 0.0593, 0, 0.0281, 1.061}},
};

std::vector<Display> displays() {
  return {
      {.name = "standard_4k", .width = 3840, .height = 2160, .diagonal_inches = 30, .distance = 0.7472, .peak = 200, .contrast = 1000, .ambient = 250},
      {.name = "standard_hdr_pq", .colour_space = "BT.2020-PQ", .width = 3840, .height = 2160, .diagonal_inches = 30, .distance = 0.7472, .peak = 1500, .contrast = 1000000, .ambient = 10},
      {.name = "standard_hdr_hlg", .colour_space = "BT.2020-HLG", .width = 3840, .height = 2160, .diagonal_inches = 30, .distance = 0.7472, .peak = 1500, .contrast = 1000000, .ambient = 10},
      {.name = "standard_hdr_linear", .colour_space = "BT.709-linear", .width = 3840, .height = 2160, .diagonal_inches = 30, .distance = 0.7472, .peak = 1500, .contrast = 1000000, .ambient = 10},
      {.name = "standard_hdr_linear_dark", .colour_space = "BT.709-linear", .width = 3840, .height = 2160, .diagonal_inches = 30, .distance = 0.7472, .peak = 1500, .contrast = 1000000, .ambient = 0},
      {.name = "standard_hdr_linear_zoom", .colour_space = "BT.709-linear", .width = 3840, .height = 2160, .diagonal_inches = 30, .distance = 0.25, .peak = 10000, .contrast = 1000000, .ambient = 10},
      {.name = "standard_fhd", .width = 1920, .height = 1080, .diagonal_inches = 24, .distance = 0.6, .peak = 200, .contrast = 1000, .ambient = 250},
      {.name = "standard_hmd", .width = 1440, .height = 1600, .field_of_view = 110.0, .distance = 3, .peak = 100, .black = 0.1, .ambient = 0},
      {.name = "standard_phone", .width = 2400, .height = 1080, .diagonal_inches = 6, .distance = 0.4, .peak = 500, .black = 0.05, .ambient = 250},
      {.name = "sdr_4k_30", .width = 3840, .height = 2160, .diagonal_inches = 30, .distance = 0.6, .peak = 100, .contrast = 1000, .ambient = 250},
      {.name = "sdr_fhd_24", .width = 1920, .height = 1080, .diagonal_inches = 24, .distance = 0.6, .peak = 100, .contrast = 1000, .ambient = 250},
      {.name = "htc_vive_pro", .width = 1440, .height = 1600, .field_of_view = 110.0, .distance = 3, .peak = 133.3, .black = 0.1, .ambient = 0},
      {.name = "iphone_12_pro", .width = 2532, .height = 1170, .diagonal_inches = 6.1, .distance = 20 * kInch, .peak = 825, .black = 0.0004, .ambient = 250},
      {.name = "iphone_14_pro", .width = 2532, .height = 1170, .diagonal_inches = 6.1, .distance = 20 * kInch, .peak = 1025, .black = 0.0004, .ambient = 250},
      {.name = "iphone_14_pro_vert", .width = 1170, .height = 2532, .diagonal_inches = 6.1, .distance = 20 * kInch, .peak = 1025, .black = 0.0004, .ambient = 250},
      {.name = "iphone_14_pro_hdr", .colour_space = "BT.2020-HLG", .width = 2532, .height = 1170, .diagonal_inches = 6.1, .distance = 20 * kInch, .peak = 1590, .black = 0.0004, .ambient = 10},
      {.name = "iphone_14_pro_hdr_vert", .colour_space = "BT.2020-HLG", .width = 1170, .height = 2532, .diagonal_inches = 6.1, .distance = 20 * kInch, .peak = 1590, .black = 0.0004, .ambient = 10},
      {.name = "ipad_pro_12_9", .width = 2732, .height = 2048, .diagonal_inches = 12.9, .distance = 20 * kInch, .peak = 600, .black = 0.37, .ambient = 250},
      {.name = "macbook_pro_16", .width = 3072, .height = 1920, .diagonal_inches = 16, .distance = 25 * kInch, .peak = 500, .black = 0.37, .ambient = 250},
      {.name = "lg_oled_2017_sdr", .width = 3840, .height = 2160, .diagonal_inches = 64.5, .distance = 101 * kInch, .peak = 272, .black = 0.014, .ambient = 100},
      {.name = "lg_oled_2017_hdr", .width = 3840, .height = 2160, .diagonal_inches = 64.5, .distance = 101 * kInch, .peak = 754, .black = 0.038, .ambient = 100},
      {.name = "eizo_CG3146", .width = 4096, .height = 2160, .diagonal_inches = 31.063, .distance = 0.73406, .peak = 300, .contrast = 3000, .ambient = 0},
      {.name = "65inch_hdr_pq_4knit", .colour_space = "BT.2020-PQ", .width = 3840, .height = 2160, .diagonal_inches = 65, .distance = 1.98, .peak = 4000, .contrast = 1000000, .ambient = 5},
      {.name = "65inch_hdr_pq_2Knit", .colour_space = "BT.2020-PQ", .width = 3840, .height = 2160, .diagonal_inches = 65, .distance = 1.98, .peak = 2000, .contrast = 1000000, .ambient = 5},
      {.name = "65inch_hdr_pq_1Knit", .colour_space = "BT.2020-PQ", .width = 3840, .height = 2160, .diagonal_inches = 65, .distance = 1.98, .peak = 1000, .contrast = 1000000, .ambient = 5},
      {.name = "lg_oled_2026_hdr_pq", .colour_space = "BT.2020-PQ", .width = 3840, .height = 2160, .diagonal_inches = 64.9, .distance = 86.62 * kInch, .peak = 3000, .black = 0.0005, .ambient = 5},
  };
}
// clang-format on

}  // namespace

std::span<const ColourSpace> colour_spaces() { return kColourSpaces; }

std::span<const Display> built_in_displays() {
  static const std::vector<Display> all = displays();
  return all;
}

}  // namespace acuity::cvvdp
