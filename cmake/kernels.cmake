# Compiles a file of kernels for every GPU backend and embeds the results. Stock clang makes PTX and AMD code objects, glslang
# makes SPIR-V; a tool that is missing takes its backend out of the build, with a message, and breaks nothing.
find_program(ACUITY_CLANG NAMES clang++-19 DOC "clang that compiles CUDA and HIP kernels")
find_program(ACUITY_LLD NAMES ld.lld-19 DOC "lld that links AMD code objects")
find_program(ACUITY_BUNDLER NAMES clang-offload-bundler-19 DOC "what bundles AMD code objects")
find_program(ACUITY_GLSLANG NAMES glslangValidator DOC "glslang that compiles Vulkan kernels")
find_path(ACUITY_VULKAN_HEADERS vulkan/vulkan_core.h DOC "Where vulkan/vulkan_core.h is; the loader is opened at run time")
find_program(ACUITY_PTXAS NAMES ptxas DOC "ptxas that assembles PTX ahead of time")

set(ACUITY_CUDA_TARGETS sm_75 sm_90)
set(ACUITY_PTX_VERSION_sm_75 ptx63)  # the first that knows the target
set(ACUITY_PTX_VERSION_sm_90 ptx78)
set(ACUITY_CUBIN_TARGETS sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120)
set(ACUITY_HIP_TARGETS gfx906 gfx90a gfx942 gfx1030 gfx1100 gfx1201)
set(ACUITY_KERNEL_FLAGS -std=c++20 -O3 -ffp-contract=off -Wall -Wextra -Werror -I${PROJECT_SOURCE_DIR}/src)

if(NOT ACUITY_CLANG)
  message(STATUS "Acuity: CUDA and HIP are off: clang++-19 was not found")
elseif(NOT ACUITY_LLD OR NOT ACUITY_BUNDLER)
  message(STATUS "Acuity: HIP is off: ld.lld-19 and clang-offload-bundler-19 are needed")
endif()
if(ACUITY_GLSLANG AND ACUITY_CLANG AND ACUITY_VULKAN_HEADERS)
  set(ACUITY_VULKAN ON)
else()
  set(ACUITY_VULKAN OFF)
  message(STATUS "Acuity: Vulkan is off: glslangValidator, clang++-19 and vulkan/vulkan_core.h are needed")
endif()
if(NOT ACUITY_PTXAS)
  message(STATUS "Acuity: no cubins: ptxas was not found; NVIDIA's driver compiles the PTX when it is first used")
endif()

# acuity_kernels(NAME SOURCE [TARGET]): embeds src/SOURCE as `extern const acuity::KernelFile NAME` in the library, or in TARGET.
function(acuity_kernels name source)
  set(into acuity_core)
  if(ARGC GREATER 2)
    set(into ${ARGV2})
  endif()
  set(input ${PROJECT_SOURCE_DIR}/src/${source})
  set(folder ${PROJECT_BINARY_DIR}/kernels/${name})
  file(MAKE_DIRECTORY ${folder})
  set(outputs "")
  set(rows "")
  set(blobs "")

  # A macro, so that it appends to the lists above.
  macro(embed backend target kernel file)
    list(LENGTH outputs number)
    list(APPEND outputs ${file})
    string(APPEND blobs "EMBED(${name}_${number}, \"${file}\")\n")
    string(APPEND rows
      "    {Backend::${backend}, \"${target}\", \"${kernel}\", {${name}_${number}_begin, static_cast<size_t>(${name}_${number}_end - ${name}_${number}_begin)}},\n")
  endmacro()

  if(ACUITY_CLANG)
    foreach(target ${ACUITY_CUDA_TARGETS})
      set(ptx ${folder}/${target}.ptx)
      add_custom_command(OUTPUT ${ptx} DEPENDS ${input} DEPFILE ${ptx}.d VERBATIM
        COMMAND ${ACUITY_CLANG} -x cuda --cuda-device-only --cuda-gpu-arch=${target}
                --cuda-feature=+${ACUITY_PTX_VERSION_${target}} -nocudainc -nocudalib -Wno-unknown-cuda-version ${ACUITY_KERNEL_FLAGS}
                -DACUITY_CUDA -MD -MF ${ptx}.d -S -o ${ptx} ${input})
      embed(cuda ${target} "" ${ptx})
    endforeach()
    if(ACUITY_PTXAS)
      foreach(target ${ACUITY_CUBIN_TARGETS})
        set(cubin ${folder}/${target}.cubin)
        add_custom_command(OUTPUT ${cubin} DEPENDS ${folder}/sm_75.ptx VERBATIM
          COMMAND ${ACUITY_PTXAS} -O3 --fmad=false -arch=${target} -o ${cubin} ${folder}/sm_75.ptx)
        embed(cuda ${target} "" ${cubin})
      endforeach()
    endif()
    if(ACUITY_LLD AND ACUITY_BUNDLER)
      foreach(target ${ACUITY_HIP_TARGETS})
        set(object ${folder}/${target}.hsaco)
        add_custom_command(OUTPUT ${object} DEPENDS ${input} DEPFILE ${object}.d VERBATIM
          COMMAND ${ACUITY_CLANG} -x hip --cuda-device-only --offload-arch=${target} -nogpuinc -nogpulib
                  ${ACUITY_KERNEL_FLAGS} -DACUITY_HIP -MD -MF ${object}.d -o ${object} ${input})
        embed(hip ${target} "" ${object})
      endforeach()
    endif()
  endif()
  if(ACUITY_VULKAN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${input})
    file(STRINGS ${input} declarations REGEX "^KERNEL\\(")
    foreach(declaration ${declarations})
      string(REGEX REPLACE "^KERNEL\\(([a-z0-9_]+).*" "\\1" kernel "${declaration}")
      foreach(form spirv spirv_emulated_fma)
        set(flags "")
        if(form STREQUAL "spirv_emulated_fma")
          set(flags -DEMULATE_FMA)
        endif()
        set(spirv ${folder}/${kernel}.${form})
        add_custom_command(OUTPUT ${spirv} DEPENDS ${input} ${PROJECT_SOURCE_DIR}/src/lang/glsl_prefix.h
          DEPFILE ${spirv}.d VERBATIM
          COMMAND ${ACUITY_CLANG} -E -P -x c -DACUITY_GLSL "-DPICK_${kernel}=~,1" ${flags} -I${PROJECT_SOURCE_DIR}/src
                  -MD -MF ${spirv}.d -MT ${spirv} ${input} -o ${spirv}.body
          COMMAND ${CMAKE_COMMAND} -E cat ${PROJECT_SOURCE_DIR}/src/lang/glsl_prefix.h ${spirv}.body > ${spirv}.comp
          COMMAND ${ACUITY_GLSLANG} --quiet -V --target-env vulkan1.2 -S comp -o ${spirv} ${spirv}.comp)
        embed(vulkan ${form} ${kernel} ${spirv})
      endforeach()
    endforeach()
  endif()

  list(LENGTH outputs code_count)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/kernels.cc.in ${folder}/${name}.cc @ONLY)
  # The commands above belong to this folder's scope, the library to another.
  set_source_files_properties(${folder}/${name}.cc TARGET_DIRECTORY ${into} PROPERTIES OBJECT_DEPENDS "${outputs}")
  add_custom_target(${name}_codes DEPENDS ${outputs})
  add_dependencies(${into} ${name}_codes)
  target_sources(${into} PRIVATE ${folder}/${name}.cc)
endfunction()
