// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "acuity/frame_scorer.h"
#include "metrics/vmaf/metric.h"
#include "support/features.h"

namespace acuity {
namespace {

using tests::GoldenValue;

FrameScorerOptions options_for(const FrameShape& format, std::vector<FrameMetricRequest> metrics, int threads = 2) {
  return {.metrics = std::move(metrics), .format = FrameFormat{format}, .device = "cpu", .threads = threads};
}

Result<std::vector<FrameScore>> score_clip(const tests::SyntheticClip& clip, std::vector<FrameMetricRequest> metrics,
                                           int threads = 2) {
  Result<FrameScorer> scorer =
      FrameScorer::create(options_for(clip.reference.front().format, std::move(metrics), threads));
  if (!scorer.ok()) return scorer.status();
  for (size_t i = 0; i < clip.reference.size(); ++i) {
    const Status pushed = scorer->push(clip.reference[i].view(), clip.distorted[i].view());
    if (!pushed.ok()) return pushed;
  }
  return scorer->finish();
}

const std::vector<double>* output(const FrameScore& score, const std::string& name) {
  for (const FrameOutput& candidate : score.outputs) {
    if (candidate.name == name) return &candidate.values;
  }
  return nullptr;
}

// All models of a clip in one run. libvmaf does not deepen 8-bit video.
class VmafGolden : public testing::TestWithParam<const char*> {};

TEST_P(VmafGolden, ScoresAreThoseOfLibvmaf) {
  std::map<std::string, std::vector<GoldenValue>> by_model;
  for (const GoldenValue& golden : tests::read_video_golden("vmaf")) {
    if (golden.clip == GetParam()) by_model[golden.output.substr(0, golden.output.find(':'))].push_back(golden);
  }
  ASSERT_FALSE(by_model.empty());
  std::vector<FrameMetricRequest> requests;
  for (const auto& [model, values] : by_model)
    requests.push_back({"vmaf", {{"model", model}, {"precision", "stream"}}});
  const Result<std::vector<FrameScore>> scores = score_clip(tests::synthetic_clip(GetParam()), requests);
  ASSERT_TRUE(scores.ok()) << scores.status().message();
  size_t m = 0;
  for (const auto& [model, values] : by_model) {
    const FrameScore& score = (*scores)[m++];
    for (const GoldenValue& golden : values) {
      const std::vector<double>* found = output(score, golden.output.substr(model.size() + 1));
      ASSERT_NE(found, nullptr) << golden.output;
      EXPECT_NEAR(found->at(std::stoul(golden.frame)), golden.value, 1e-6)
          << golden.clip << " frame " << golden.frame << " " << golden.output;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Clips, VmafGolden,
                         testing::Values("synth_352x288_12f_8bit_420", "synth_352x288_6f_10bit_420",
                                         "synth_352x288_4f_12bit_420", "synth_352x288_4f_16bit_420",
                                         "synth_322x182_5f_8bit_420", "synth_320x240_4f_8bit_422",
                                         "synth_320x240_4f_8bit_444", "synth_320x240_4f_10bit_422",
                                         "synth_320x240_4f_10bit_444", "synth_192x192_4f_8bit_420"),
                         [](const auto& clip) { return std::string(clip.param); });
#ifndef ACUITY_SLOW_MACHINE
INSTANTIATE_TEST_SUITE_P(LargeClips, VmafGolden,
                         testing::Values("synth_1920x1080_3f_8bit_420", "synth_1920x1080_2f_10bit_420"),
                         [](const auto& clip) { return std::string(clip.param); });
#endif

TEST(Vmaf, ThreadsAndCompanyChangeNothing) {
  const tests::SyntheticClip clip = tests::synthetic_clip("synth_322x182_5f_8bit_420");
  const FrameMetricRequest plain{"vmaf"}, neg{"vmaf", {{"model", "neg"}}}, v1{"vmaf", {{"model", "v1"}}};
  const auto together = score_clip(clip, {plain, neg, v1}, 3);
  ASSERT_TRUE(together.ok()) << together.status().message();
  size_t i = 0;
  for (const FrameMetricRequest& request : {plain, neg, v1}) {
    const auto alone = score_clip(clip, {request}, 1);
    ASSERT_TRUE(alone.ok());
    EXPECT_EQ(alone->front().outputs[0].values, (*together)[i++].outputs[0].values);
  }
}

// The model alone does not have added details measured.
TEST(Vmaf, AdmIsWholeWhereItIsAskedFor) {
  const tests::SyntheticClip clip = tests::synthetic_clip("synth_322x182_5f_8bit_420");
  const FrameMetricRequest model{"vmaf"}, adm{"adm"};
  const auto alone = score_clip(clip, {adm}), after = score_clip(clip, {model, adm}),
             before = score_clip(clip, {adm, model});
  ASSERT_TRUE(alone.ok() && after.ok() && before.ok());
  for (const FrameScore& score : {(*after)[1], (*before)[0]}) {
    for (const FrameOutput& expected : alone->front().outputs) {
      const std::vector<double>* found = output(score, expected.name);
      ASSERT_NE(found, nullptr) << expected.name;
      EXPECT_EQ(*found, expected.values) << expected.name;
    }
  }
  EXPECT_GT(output(alone->front(), "integer_aim")->front(), 0);
  EXPECT_EQ((*after)[0].outputs[0].values, (*before)[1].outputs[0].values);
}

// What 10 bits change: the samples are those of the clip times 4.
TEST(Vmaf, FirstGenerationMeasuresEightBitsAsTen) {
  const tests::SyntheticClip clip = tests::synthetic_clip("synth_322x182_5f_8bit_420");
  tests::SyntheticClip deep = clip;
  for (auto* side : {&deep.reference, &deep.distorted}) {
    for (tests::OwnedFrame& frame : *side) {
      frame.format.depth = 10;
      for (std::vector<uint8_t>& plane : frame.planes) {
        std::vector<uint8_t> wide;
        for (const uint8_t sample : plane) {
          wide.push_back(static_cast<uint8_t>(sample << 2));
          wide.push_back(static_cast<uint8_t>(sample >> 6));
        }
        plane = wide;
      }
    }
  }
  const auto automatic = score_clip(clip, {{"vmaf", {{"model", "v1"}}}});
  const auto by_hand = score_clip(deep, {{"vmaf", {{"model", "v1"}, {"precision", "stream"}}}});
  const auto plain = score_clip(clip, {{"vmaf", {{"model", "v1"}, {"precision", "stream"}}}});
  ASSERT_TRUE(automatic.ok() && by_hand.ok() && plain.ok()) << automatic.status().message();
  EXPECT_EQ(automatic->front().outputs[0].values, by_hand->front().outputs[0].values);
  EXPECT_NE(automatic->front().outputs[0].values, plain->front().outputs[0].values);
  EXPECT_EQ(automatic->front().provenance.assumptions.size(), 2u);
  EXPECT_EQ(plain->front().provenance.assumptions,
            (std::vector<std::string>{"model v1.0.16_3d0h: a 1080-line display watched from 3 times its height"}));
}

TEST(Vmaf, OptionsOfFeaturesCanBeOverridden) {
  const tests::SyntheticClip clip = tests::synthetic_clip("synth_322x182_5f_8bit_420");
  const auto overridden = score_clip(
      clip,
      {{"vmaf", {{"features", "adm.adm_enhn_gain_limit=1;vif.vif_enhn_gain_limit=1"}}}, {"vmaf", {{"model", "neg"}}}});
  ASSERT_TRUE(overridden.ok()) << overridden.status().message();
  EXPECT_EQ((*overridden)[0].outputs[0].values, (*overridden)[1].outputs[0].values);
  const auto create = [&](const std::string& features) {
    return FrameScorer::create(options_for(clip.reference[0].format, {{"vmaf", {{"features", features}}}})).status();
  };
  EXPECT_EQ(create("psnr.min_sse=1").message(),
            "the model v0.6.1 has no feature 'psnr', whose option min_sse is given");
  EXPECT_EQ(create("adm=1").code(), StatusCode::usage);
  EXPECT_EQ(create("adm.no_such=1").code(), StatusCode::usage);
  for (const char* name : {"egl", "EGL", "Adm_Enhn_Gain_Limit"}) {
    EXPECT_TRUE(create(std::string("adm.adm_enhn_gain_limit=2;adm.") + name + "=1").ok()) << name;
  }
}

TEST(Vmaf, UnknownModelsAreRefused) {
  const Result<vmaf::ModelSet> none = vmaf::load_model("v9");
  EXPECT_EQ(
      none.status().message(),
      "there is no model 'v9' and no file of that name (did you mean 'v1'?); 'acuity models' lists the models that "
      "are built in");
  EXPECT_EQ(vmaf::load_model("/no/such/file").status().code(), StatusCode::input);
}

TEST(VmafModels, TheTableIsWhole) {
  const std::vector<vmaf::ModelSet>& models = vmaf::built_in_models();
  ASSERT_EQ(models.size(), 17u);
  std::set<std::string> names;
  for (const vmaf::ModelSet& set : models) {
    names.insert(set.name);
    EXPECT_FALSE(set.seen.empty()) << set.name;
    EXPECT_EQ(set.parts.size(), set.name.find("b_v") == std::string::npos ? 0u : 20u) << set.name;
    std::vector<const vmaf::Model*> all{&set.whole};
    for (const vmaf::Model& part : set.parts) all.push_back(&part);
    for (const vmaf::Model* model : all) {
      EXPECT_GE(model->machine.weights.size(), 200u) << set.name;
      EXPECT_EQ(model->machine.vectors.size(), model->machine.weights.size() * model->inputs.size()) << set.name;
      EXPECT_TRUE(model->clip.has_value()) << set.name;
    }
  }
  EXPECT_EQ(names.size(), models.size());
  for (const vmaf::ShortName& known : vmaf::short_names())
    EXPECT_NE(vmaf::find_model(known.name), nullptr) << known.name;
}

void expect_equal(const vmaf::Model& a, const vmaf::Model& b) {
  EXPECT_TRUE(a.machine == b.machine);
  EXPECT_EQ(a.slope, b.slope);
  EXPECT_EQ(a.intercept, b.intercept);
  EXPECT_EQ(a.clip, b.clip);
  EXPECT_EQ(a.chroma_correction, b.chroma_correction);
  EXPECT_EQ(a.transform.enabled, b.transform.enabled);
  EXPECT_EQ(a.transform.p0, b.transform.p0);
  EXPECT_EQ(a.transform.p1, b.transform.p1);
  EXPECT_EQ(a.transform.p2, b.transform.p2);
  EXPECT_EQ(a.transform.not_below, b.transform.not_below);
  ASSERT_EQ(a.inputs.size(), b.inputs.size());
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    EXPECT_EQ(a.inputs[i].output, b.inputs[i].output);
    EXPECT_EQ(a.inputs[i].slope, b.inputs[i].slope);
    EXPECT_EQ(a.inputs[i].intercept, b.inputs[i].intercept);
    std::map<std::string, std::string> mine, other;
    for (const OptionValue& option : a.inputs[i].options) mine[option.name] = option.value;
    for (const OptionValue& option : b.inputs[i].options) other[option.name] = option.value;
    EXPECT_EQ(mine, other);
  }
}

// Where ACUITY_VMAF_MODELS names a folder with libvmaf's own files.
TEST(VmafModels, TheTableIsWhatLibvmafsFilesSay) {
  const char* folder = std::getenv("ACUITY_VMAF_MODELS");
  if (folder == nullptr) GTEST_SKIP() << "ACUITY_VMAF_MODELS is not set";
  for (const vmaf::ModelSet& set : vmaf::built_in_models()) {
    SCOPED_TRACE(set.name);
    const Result<vmaf::ModelSet> file = vmaf::read_model(std::string(folder) + "/vmaf_" + set.name + ".json");
    ASSERT_TRUE(file.ok()) << file.status().message();
    expect_equal(file->whole, set.whole);
    ASSERT_EQ(file->parts.size(), set.parts.size());
    for (size_t i = 0; i < set.parts.size(); ++i) expect_equal(file->parts[i], set.parts[i]);
  }
}

std::string with(const std::string& model_dict) { return "{\"model_dict\": {" + model_dict + "}}"; }

const std::string kHead =
    R"("model_type": "LIBSVMNUSVR", "norm_type": "linear_rescale", "feature_names": ["VMAF_feature_adm2_score", "vif"],
       "feature_opts_dicts": [{"adm_csf_mode": 2, "debug": false, "x": "y"}, {}],
       "slopes": [0.5, 2, 4], "intercepts": [1, 0.25, 0])";
const std::string kMachine =
    R"(, "model": "svm_type nu_svr\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho -1.5\nSV\n4 1:0.5 2:1 \n-2 2:0.25 \n")";

TEST(VmafModelFile, IsRead) {
  const Result<vmaf::ModelSet> set = vmaf::parse_model(with(kHead + kMachine), "file");
  ASSERT_TRUE(set.ok()) << set.status().message();
  const vmaf::Model& model = set->whole;
  EXPECT_EQ(model.machine.weights, (std::vector<double>{4, -2}));
  EXPECT_EQ(model.machine.vectors, (std::vector<double>{0.5, 1, 0, 0.25}));
  EXPECT_EQ(model.inputs[0].options.size(), 3u);
  const double values[] = {0.125, 0.25};  // scaled: 0.5 and 1
  const double expected = (4 - 2 * std::exp(-0.5 * (0.25 + 0.75 * 0.75)) + 1.5 - 1) / 0.5;
  EXPECT_NEAR(vmaf::predict(model, values), expected, 1e-12);
}

TEST(VmafModelFile, ScoresAreTransformedAndClipped) {
  const auto score = [](const std::string& rest) {
    const Result<vmaf::ModelSet> set = vmaf::parse_model(with(kHead + kMachine + rest), "file");
    EXPECT_TRUE(set.ok()) << set.status().message();
    const double values[] = {0.125, 0.25};
    return set.ok() ? vmaf::predict(set->whole, values) : 0;
  };
  const double plain = score("");
  EXPECT_EQ(score(R"(, "score_clip": [0, 5])"), 5);
  EXPECT_EQ(score(R"(, "score_transform": {"p0": 1})"), plain);
  EXPECT_EQ(score(R"(, "score_transform": {"enabled": true, "p0": 1, "p2": 2, "p1": null})"), 1 + 2 * plain * plain);
  EXPECT_EQ(score(R"(, "score_transform": {"enabled": true, "p0": 1, "out_gte_in": "true"})"), plain);
  EXPECT_EQ(score(R"(, "score_transform": {"enabled": true, "p0": 1, "out_lte_in": "true"})"), 1);
  EXPECT_NEAR(score(R"(, "score_transform": {"enabled": true, "knots": [[0, 1], [2, 1], [4, 5]]})"),
              5 + 2 * (plain - 4), 1e-12);
}

TEST(VmafModelFile, OthersAreRefused) {
  const auto message = [](const std::string& text) { return vmaf::parse_model(text, "file").status().message(); };
  EXPECT_EQ(message("no"), "'file' is not a VMAF model: it is not JSON; use a model file of libvmaf");
  EXPECT_EQ(message("{}"),
            "'file' is not a usable VMAF model: it has no model_dict; use a model file of libvmaf in JSON");
  for (const std::string& text :
       {std::string("[]"), std::string("1"), with(""), with(kHead), with(kMachine.substr(2)),
        with(kHead + R"(, "model": "svm_type nu_svr\nkernel_type linear\ngamma 1\ntotal_sv 1\nrho 0\nSV\n1 1:1\n")"),
        with(kHead + R"(, "model": "svm_type nu_svr\nkernel_type rbf\ngamma 1\ntotal_sv 2\nrho 0\nSV\n1 1:1\n")"),
        with(kHead + R"(, "model": "svm_type nu_svr\nkernel_type rbf\ngamma 1\ntotal_sv 1\nrho 0\nSV\n1 3:1\n")"),
        with(kHead + R"(, "model": "svm_type nu_svr\nkernel_type rbf\ngamma nan\ntotal_sv 1\nrho 0\nSV\n1 1:1\n")"),
        with(kHead + kMachine + R"(, "score_clip": [1])"), with(kHead + kMachine + R"(, "score_clip": [2, 1])"),
        with(kHead + kMachine + R"(, "score_transform": {"knots": [[1, 1], [0, 2]]})"),
        with(kHead + kMachine + R"(, "score_transform": {"enabled": true, "p0": 1, "out_gte_in": true})"),
        with(kHead + kMachine + R"(, "score_transform": {"enabled": true, "p0": 1, "out_lte_in": 1})"),
        std::string(R"({"0": )") + with(kHead + kMachine) + "}"}) {
    EXPECT_EQ(vmaf::parse_model(text, "file").status().code(), StatusCode::input) << text;
  }
}

}  // namespace
}  // namespace acuity
