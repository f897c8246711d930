# Everything comes from Debian's packages; `./dev setup` installs them.
find_package(PkgConfig REQUIRED)
find_package(TBB REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(TIFF REQUIRED)
find_package(OpenEXR REQUIRED)
find_package(GIF REQUIRED)
foreach(package libhwy lcms2 libwebp libwebpdemux libavif libjxl libjxl_threads libopenjp2 libxxhash)
  pkg_check_modules(${package} REQUIRED IMPORTED_TARGET ${package})
endforeach()
# Loaded when a file needs them, so only their headers count here.
pkg_check_modules(libav REQUIRED IMPORTED_TARGET libavformat libavcodec libavutil libswscale)

set(ACUITY_DEPENDENCIES
  PkgConfig::libhwy TBB::tbb fmt::fmt PkgConfig::lcms2 PNG::PNG JPEG::JPEG PkgConfig::libwebp PkgConfig::libwebpdemux
  PkgConfig::libavif PkgConfig::libjxl PkgConfig::libjxl_threads PkgConfig::libxxhash ${libopenjp2_LINK_LIBRARIES} TIFF::TIFF GIF::GIF OpenEXR::OpenEXR nlohmann_json::nlohmann_json)
