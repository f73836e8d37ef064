// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/tensor_file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <ATen/ATen.h>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/digest.h"
#include "run/tier/checksum.h"

namespace lowtide::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTexts = "__metadata__";
constexpr const char* kDigest = "digest";
constexpr std::string_view kNoDigest = "0000000000000000";
constexpr std::size_t kLengthBytes = 8;

constexpr std::array<std::pair<at::ScalarType, const char*>, 10> kTypes = {{{at::kFloat, "F32"},
                                                                            {at::kDouble, "F64"},
                                                                            {at::kHalf, "F16"},
                                                                            {at::kBFloat16, "BF16"},
                                                                            {at::kLong, "I64"},
                                                                            {at::kInt, "I32"},
                                                                            {at::kShort, "I16"},
                                                                            {at::kChar, "I8"},
                                                                            {at::kByte, "U8"},
                                                                            {at::kBool, "BOOL"}}};

const char* name_of(at::ScalarType type) {
  for (const auto& [known, name] : kTypes) {
    if (known == type) return name;
  }
  throw InternalError(base::concat("no tensor file has the type ", c10::toString(type)));
}

std::optional<at::ScalarType> type_of(const std::string& name) {
  for (const auto& [type, known] : kTypes) {
    if (name == known) return type;
  }
  return std::nullopt;
}

// The eight bytes and the header, which is filled up with blanks to a multiple of eight. As long
// with one digest as with another.
std::string head_of(Texts texts, const State& state, std::string_view digest) {
  texts[kDigest] = digest;
  nlohmann::json header = {{kTexts, texts}};
  std::size_t offset = 0;
  for (const NamedTensor& item : state) {
    const std::size_t end = offset + item.tensor.nbytes();
    header[item.name] = {{"dtype", name_of(item.tensor.scalar_type())},
                         {"shape", item.tensor.sizes().vec()},
                         {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');
  std::string head;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    head.push_back(static_cast<char>(text.size() >> (8 * i) & 0xFF));
  }
  return head + text;
}

std::int64_t sum_of(std::span<const std::byte> bytes) {
  return static_cast<std::int64_t>(
      tier::checksum(bytes.data(), static_cast<std::int64_t>(bytes.size()), 0, 0));
}

// A file under a temporary name, removed unless it was renamed.
class PartFile {
 public:
  explicit PartFile(const fs::path& target) : target_(target), name_(part_of(target)) {
    file_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ < 0) fail();
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile() {
    if (file_ >= 0) ::close(file_);
    if (!is_renamed_) ::unlink(name_.c_str());
  }

  void write(const void* data, std::size_t count) {
    write_at(data, count, end_);
    end_ += static_cast<off_t>(count);
  }

  void write_at(const void* data, std::size_t count, off_t offset) {
    const char* from = static_cast<const char*>(data);
    while (count > 0) {
      const ssize_t written = ::pwrite(file_, from, count, offset);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      from += written;
      offset += written;
      count -= static_cast<std::size_t>(written);
    }
  }

  void rename_to_target() {
    if (::fsync(file_) != 0) fail();
    const int closed = ::close(file_);
    file_ = -1;
    if (closed != 0 || ::rename(name_.c_str(), target_.c_str()) != 0) fail();
    is_renamed_ = true;
    // The new name is on the disk once its folder is.
    const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
    const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) return;
    ::fsync(opened);
    ::close(opened);
  }

 private:
  [[noreturn]] void fail() {
    throw IoError(base::concat("cannot write ", target_.string(), ": ", std::strerror(errno)));
  }

  const fs::path target_;
  const std::string name_;
  int file_ = -1;
  off_t end_ = 0;
  bool is_renamed_ = false;
};

// A whole file in memory.
class Mapping {
 public:
  explicit Mapping(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about {};
    if (file < 0 || ::fstat(file, &about) != 0) fail(path, file);
    size_ = static_cast<std::size_t>(about.st_size);
    if (size_ > 0) {
      data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
      if (data_ == MAP_FAILED) fail(path, file);
    }
    ::close(file);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (size_ > 0) ::munmap(data_, size_);
  }

  std::span<const std::byte> bytes() const { return {static_cast<std::byte*>(data_), size_}; }

 private:
  [[noreturn]] static void fail(const fs::path& path, int file) {
    const int error = errno;
    if (file >= 0) ::close(file);
    throw IoError(base::concat("cannot read ", path.string(), ": ", std::strerror(error)));
  }

  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// Takes a file apart; whatever is wrong with it is one error.
class Reader {
 public:
  Reader(const fs::path& path, std::shared_ptr<const Mapping> mapping)
      : name_(path.string()), mapping_(std::move(mapping)), bytes_(mapping_->bytes()) {}

  TensorFile read() {
    const nlohmann::json header = read_header();
    TensorFile result;
    try {
      result.texts = header.at(kTexts).get<Texts>();
      for (const auto& [name, about] : header.items()) {
        if (name != kTexts) result.tensors.emplace(name, tensor_of(about));
      }
    } catch (const nlohmann::json::exception&) {
      fail("its header is not one of ours");
    }
    if (!result.texts.contains(kDigest)) fail("it has no digest");
    if (result.texts[kDigest] != digest(header, result.texts)) fail("its digest is another");
    result.texts.erase(kDigest);
    return result;
  }

 private:
  [[noreturn]] void fail(const char* why) const {
    throw InvalidInput(base::concat("the checkpoint is damaged or cut short (", why, "): ", name_));
  }

  nlohmann::json read_header() {
    if (bytes_.size() < kLengthBytes) fail("it is too short");
    std::size_t length = 0;
    for (std::size_t i = kLengthBytes; i > 0; --i) {
      length = length << 8 | std::to_integer<std::size_t>(bytes_[i - 1]);
    }
    if (length > bytes_.size() - kLengthBytes) fail("it ends within its header");
    const auto* text = reinterpret_cast<const char*>(bytes_.data());
    head_ = std::string(text, kLengthBytes + length);
    data_ = bytes_.subspan(kLengthBytes + length);
    nlohmann::json header =
        nlohmann::json::parse(head_.begin() + kLengthBytes, head_.end(), nullptr, false);
    if (!header.is_object()) fail("it has no header");
    return header;
  }

  at::Tensor tensor_of(const nlohmann::json& about) {
    const auto type = type_of(about.at("dtype").get<std::string>());
    if (!type) fail("it has a type that is not known");
    const auto sizes = about.at("shape").get<std::vector<std::int64_t>>();
    const auto offsets = about.at("data_offsets").get<std::array<std::size_t, 2>>();
    std::size_t wanted = c10::elementSize(*type);
    for (const std::int64_t size : sizes) {
      if (size < 0 || size > (std::int64_t{1} << 40)) fail("it has a shape that cannot be");
      wanted *= static_cast<std::size_t>(size);
    }
    if (offsets[0] > offsets[1] || offsets[1] > data_.size()) fail("it ends within its tensors");
    if (offsets[1] - offsets[0] != wanted) fail("a tensor has not the bytes of its shape");
    // Torch knows no memory that is read only, and nobody writes here.
    void* const from = const_cast<std::byte*>(data_.data() + offsets[0]);
    return at::from_blob(
        from, sizes, [mapping = mapping_](void*) {}, at::TensorOptions(*type));
  }

  std::string digest(const nlohmann::json& header, const Texts& texts) {
    std::string head = head_;
    const std::size_t place = head.find(texts.at(kDigest));
    if (place == std::string::npos || texts.at(kDigest).size() != kNoDigest.size()) return {};
    head.replace(place, kNoDigest.size(), kNoDigest);
    base::Digest digest;
    digest.add(head);
    std::map<std::size_t, std::size_t> places;
    for (const auto& [name, about] : header.items()) {
      if (name == kTexts) continue;
      const auto offsets = about.at("data_offsets").get<std::array<std::size_t, 2>>();
      if (offsets[1] > offsets[0]) places.emplace(offsets[0], offsets[1]);
    }
    for (const auto& [begin, end] : places) digest.add(sum_of(data_.subspan(begin, end - begin)));
    return digest.text();
  }

  const std::string name_;
  const std::shared_ptr<const Mapping> mapping_;
  const std::span<const std::byte> bytes_;
  std::string head_;
  std::span<const std::byte> data_;
};

}  // namespace

fs::path part_of(const fs::path& file) { return file.string() + ".part"; }

void write_tensor_file(const fs::path& path, const Texts& texts, const State& state,
                       Session* session) {
  PartFile file(path);
  const std::string head = head_of(texts, state, kNoDigest);
  base::Digest digest;
  digest.add(head);
  file.write(head.data(), head.size());
  for (const NamedTensor& item : state) {
    with_bytes(item.tensor, session, [&](std::span<const std::byte> bytes) {
      if (bytes.empty()) return;
      digest.add(sum_of(bytes));
      file.write(bytes.data(), bytes.size());
    });
  }
  const std::string signed_head = head_of(texts, state, digest.text());
  file.write_at(signed_head.data(), signed_head.size(), 0);
  file.rename_to_target();
}

TensorFile read_tensor_file(const fs::path& path) {
  return Reader(path, std::make_shared<const Mapping>(path)).read();
}

}  // namespace lowtide::train
