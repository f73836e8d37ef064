// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/highs_library.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <dlfcn.h>

namespace lowtide::solve {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSonames[] = {"libhighs.so.1", "libhighs.so"};

// Where pip puts the library of the package highspy. LT_VENV is the virtual environment that
// tools/setup makes.
std::vector<std::string> in_virtual_environment() {
  std::vector<std::string> paths;
  std::error_code error;
  for (const fs::directory_entry& python :
       fs::directory_iterator(fs::path(LT_VENV) / "lib", error)) {
    const fs::path path = python.path() / "site-packages" / "highspy" / kSonames[0];
    if (fs::exists(path, error)) paths.push_back(path.string());
  }
  return paths;
}

std::vector<std::string> places() {
  // Whoever names a library wants that one and no other.
  if (const char* named = std::getenv("LOWTIDE_HIGHS")) return {named};
  std::vector<std::string> paths(std::begin(kSonames), std::end(kSonames));
  for (std::string& path : in_virtual_environment()) paths.push_back(std::move(path));
  return paths;
}

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// Nothing if a function is missing or its integers are wide ones.
std::optional<HighsLibrary> functions_of(void* library) {
  HighsLibrary h;
  const bool has_all =
      find(library, "Highs_create", h.create) && find(library, "Highs_destroy", h.destroy) &&
      find(library, "Highs_getSizeofHighsInt", h.size_of_int) &&
      find(library, "Highs_passMip", h.pass_mip) &&
      find(library, "Highs_setBoolOptionValue", h.set_bool) &&
      find(library, "Highs_setIntOptionValue", h.set_int) &&
      find(library, "Highs_setDoubleOptionValue", h.set_double) &&
      find(library, "Highs_setStringOptionValue", h.set_string) &&
      find(library, "Highs_setSolution", h.set_solution) &&
      find(library, "Highs_setCallback", h.set_callback) &&
      find(library, "Highs_startCallback", h.start_callback) &&
      find(library, "Highs_getCallbackDataOutItem", h.callback_item) &&
      find(library, "Highs_run", h.run) && find(library, "Highs_getModelStatus", h.model_status) &&
      find(library, "Highs_getIntInfoValue", h.int_info) &&
      find(library, "Highs_getDoubleInfoValue", h.double_info) &&
      find(library, "Highs_getSolution", h.get_solution);
  if (!has_all) return std::nullopt;
  HighsLibrary::Model* model = h.create();
  const bool fits = h.size_of_int(model) == sizeof(HighsLibrary::Int);
  h.destroy(model);
  return fits ? std::optional(h) : std::nullopt;
}

struct Loaded {
  std::optional<HighsLibrary> library;
  std::string errors;
};

Loaded load() {
  Loaded loaded;
  for (const std::string& path : places()) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* error = dlerror();
      loaded.errors += (loaded.errors.empty() ? "" : "; ") + std::string(error ? error : path);
      continue;
    }
    loaded.library = functions_of(handle);
    if (loaded.library) return loaded;
    loaded.errors += (loaded.errors.empty() ? "" : "; ") + path + " is not HiGHS 1.8 or later";
  }
  return loaded;
}

const Loaded& loaded() {
  static const Loaded kLoaded = load();
  return kLoaded;
}

}  // namespace

const std::optional<HighsLibrary>& highs_library() { return loaded().library; }
const std::string& highs_load_errors() { return loaded().errors; }

}  // namespace lowtide::solve
