// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/run.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>
#include <unistd.h>

#include "ctdr/weights_file.h"
#include "lowtide/errors.h"
#include "train/tensor_file.h"
#include "zoo/catalogue.h"

namespace lowtide::ctdr {
namespace {

using ::testing::HasSubstr;

// LeNet-5 on the pictures that are linked in, for real.
Options lenet() {
  at::set_num_threads(1);
  Options options;
  options.run.training.model = "lenet5";
  options.run.training.batch = 100;
  options.machine = machine_named("h200");
  options.think_seconds = 1;
  return options;
}

struct TemporaryFile {
  explicit TemporaryFile(const std::string& name)
      : path(std::filesystem::temp_directory_path() / (name + std::to_string(getpid()))) {}
  ~TemporaryFile() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

TEST(Ctdr, DecomposesTrainsOnAndWritesWhatItMade) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / "lowtide_ctdr_run_test.safetensors";
  Options options = lenet();
  options.everywhere = true;
  options.rules.ranks = {{RankRule::Kind::kCompression, 0.5}};
  options.rules.has_reconstructed = false;
  options.most_accuracy_loss = 0.03;
  options.run.memory.budget = "24MiB";
  options.output = file.string();
  options.is_merged = true;
  const Report report = run(options, {});
  EXPECT_LT(report.parameters, 0.6 * static_cast<double>(report.dense_parameters));
  EXPECT_GT(report.before->accuracy, 0.5);
  ASSERT_TRUE(report.recovery);
  EXPECT_GE(report.recovery->after_fine_tuning.accuracy, report.before->accuracy - 0.03);
  EXPECT_LE(report.recovery->peak_bytes, report.budget_bytes);
  // What was written is the dense net's shape again, and does what the factors do.
  const zoo::Model model = zoo::make_model("lenet5");
  const train::TensorFile written = train::read_tensor_file(file);
  const at::NoGradGuard no_grad;
  for (const auto& item : model.module->named_parameters()) {
    item.value().copy_(written.tensors.at(item.key()));
  }
  std::filesystem::remove(file);
  train::TrainingOptions training = options.run.training;
  const auto data = train::open_data_for(training);
  training.prepare = [&](torch::nn::Module& fresh) {
    const at::NoGradGuard still_none;
    for (const auto& item : fresh.named_parameters()) {
      item.value().copy_(model.module->named_parameters()[item.key()]);
    }
  };
  const auto again =
      train::Training(training, data).evaluate([](const std::function<void()>& body) { body(); });
  EXPECT_NEAR(again->accuracy, report.recovery->after_fine_tuning.accuracy, 0.002);
}

TEST(Ctdr, NormsAreSettledOnTheTrainingData) {
  Options options = lenet();
  options.run.training.model = "small_resnet";
  options.run.training.model_options.width = 4;
  options.run.training.batch = 50;
  const auto data = train::open_data_for(options.run.training);
  train::Training training(options.run.training, data);
  const auto run_plain = [](const std::function<void()>& body) { body(); };
  const auto buffers = [&] {
    std::map<std::string, at::Tensor> found;
    for (const auto& [name, tensor] : training.state()) {
      if (name.starts_with("buffer/")) found[name] = tensor.clone();
    }
    return found;
  };
  const auto before = buffers();
  EXPECT_EQ(training.settle_norms(2, run_plain), 19);
  const auto after = buffers();
  EXPECT_FALSE(
      at::equal(after.at("buffer/norm.running_mean"), before.at("buffer/norm.running_mean")));
  EXPECT_EQ(after.at("buffer/norm.num_batches_tracked").item<std::int64_t>(), 2);
  // From no batch at all nothing is taken, so nothing is forgotten either.
  EXPECT_EQ(training.settle_norms(0, run_plain), 0);
  EXPECT_TRUE(
      at::equal(buffers().at("buffer/norm.running_mean"), after.at("buffer/norm.running_mean")));
  // Once more gives the same: they start from nothing each time.
  training.settle_norms(2, run_plain);
  EXPECT_TRUE(
      at::allclose(buffers().at("buffer/norm.running_mean"), after.at("buffer/norm.running_mean")));
}

TEST(Ctdr, ABudgetThatNoChoiceKeepsIsRefusedWithTheNearestThatWorks) {
  Options options = lenet();
  options.run.training.data = "fashion-mnist";
  const auto data = train::open_data_for(options.run.training);
  const std::optional<TrainedNet> net = trained_net(options.run, 0, data, {});
  DenseModel dense(options.run.training, net->state);
  const Judgement judgement = *judge(
      dense.with({}), {.machine = options.machine, .budget_bytes = 1000, .think_seconds = 1}, {});
  EXPECT_FALSE(judgement.planned_seconds);
  EXPECT_GT(judgement.smallest_budget_bytes, 1000);
  EXPECT_LE(judgement.smallest_budget_bytes, judgement.plain_peak_bytes);
}

std::string refusal_of(const Options& options) {
  try {
    static_cast<void>(run(options, {}));
  } catch (const OutOfMemory& refusal) {
    return refusal.what();
  }
  return "kept";
}

TEST(Ctdr, TheBudgetThatARefusalNamesIsSimulatedAndTried) {
  Options options = lenet();
  options.run.memory.budget = "200KiB";
  options.rules = {.ranks = {{RankRule::Kind::kCompression, 0.25}}, .has_reconstructed = false};
  const TemporaryFile trained("lowtide_ctdr_trained");
  options.run.checkpoint = trained.path.string();
  train::RunOptions training = options.run;
  training.memory.budget.clear();
  training.steps = 2;
  static_cast<void>(train::run(training, {}));
  const std::string refusal = refusal_of(options);
  EXPECT_THAT(refusal, HasSubstr("by simulation the smallest budget that can be kept is"));
  EXPECT_THAT(refusal, HasSubstr("The smallest budget that was found to work is"));
  const std::size_t number = refusal.rfind("--budget ") + 9;
  options.run.memory.budget = refusal.substr(number) + "B";
  options.fine_tuning_epochs = 0;
  EXPECT_EQ(refusal_of(options), "kept");
}

// Nothing is ever good enough, and there are no more ranks to raise.
Options never_back() {
  Options options = lenet();
  options.everywhere = true;
  options.rules = {.methods = {Decomposition::kSvd},
                   .ranks = {{RankRule::Kind::kCompression, 0.5}},
                   .has_reconstructed = false};
  options.most_accuracy_loss = -1;
  options.fine_tuning_epochs = 0;
  options.raises = 30;
  return options;
}

TEST(Ctdr, WhenNoRankIsHighEnoughTheNetIsTheDenseOneAgain) {
  const TemporaryFile file("lowtide_ctdr_dense.safetensors");
  Options options = never_back();
  options.output = file.path.string();
  const Report report = run(options, {});
  EXPECT_TRUE(report.forms.empty());
  EXPECT_FALSE(report.recovery);
  EXPECT_EQ(report.parameters, report.dense_parameters);
  EXPECT_EQ(report.choice.chosen, 0U);
  // Not what was written for the last decomposed one.
  const train::TensorFile written = train::read_tensor_file(file.path);
  EXPECT_TRUE(written.tensors.contains("f6.weight"));
  EXPECT_FALSE(written.tensors.contains("f6.weight_in"));
  for (const auto& [name, text] : written.texts) EXPECT_FALSE(name.starts_with("form/")) << name;
}

TEST(Ctdr, ARaiseThatIsStoppedLeavesWhatWasThereBeforeAndSaysSo) {
  const TemporaryFile file("lowtide_ctdr_stopped.safetensors");
  Options options = never_back();
  options.output = file.path.string();
  bool is_raising = false;
  train::Hooks hooks;
  hooks.say = [&](const std::string& line) {
    is_raising = is_raising || line.find("raising the ranks") != std::string::npos;
  };
  hooks.is_stopped = [&] { return is_raising; };
  const Report report = run(options, hooks);
  EXPECT_NE(report.stopped, "");
  EXPECT_EQ(report.written, options.output);
  EXPECT_EQ(report.raises, 0);
  ASSERT_TRUE(report.recovery);
  const train::TensorFile written = train::read_tensor_file(file.path);
  ASSERT_FALSE(report.forms.empty());
  for (const auto& [layer, form] : report.forms) {
    EXPECT_EQ(written.texts.at("form/" + layer), to_string(form));
  }
}

TEST(Ctdr, OneThatIsStoppedBeforeAnythingIsWrittenSaysThatToo) {
  const TemporaryFile file("lowtide_ctdr_nothing.safetensors");
  Options options = never_back();
  options.output = file.path.string();
  train::Hooks hooks;
  hooks.is_stopped = [] { return true; };
  const Report report = run(options, hooks);
  EXPECT_NE(report.stopped, "");
  EXPECT_EQ(report.written, "");
  EXPECT_FALSE(std::filesystem::exists(file.path));
}

// So little text that states of the optimizer are most of the memory, and none of them may leave.
Options small_gpt(const std::filesystem::path& text) {
  at::set_num_threads(1);
  std::ofstream(text) << [] {
    std::string letters;
    for (int i = 0; i < 600; ++i) letters += static_cast<char>('a' + i * i % 23);
    return letters;
  }();
  Options options;
  options.run.training.model = "gpt";
  options.run.training.model_options.layers = 1;
  options.run.training.model_options.width = 128;
  options.run.training.model_options.heads = 2;
  options.run.training.model_options.context = 8;
  options.run.training.data = text.string();
  options.run.training.batch = 1;
  options.run.training.optimizer = "adamw";
  options.run.memory.tiers = "none";
  options.machine = machine_named("h200");
  options.think_seconds = 1;
  options.rules = {.methods = {Decomposition::kSvd},
                   .ranks = {{RankRule::Kind::kFixed, 16}},
                   .has_reconstructed = false,
                   .takes_untrained = true};
  options.everywhere = true;
  options.fine_tuning_epochs = 0;
  return options;
}

TEST(Ctdr, RanksThatTheBudgetHasNoRoomForAreNotRaised) {
  const TemporaryFile text("lowtide_ctdr_text"), file("lowtide_ctdr_raised.safetensors"),
      checkpoint("lowtide_ctdr_gpt");
  Options options = small_gpt(text.path);
  options.run.checkpoint = checkpoint.path.string();
  train::RunOptions training = options.run;
  training.steps = 2;
  static_cast<void>(train::run(training, {}));
  options.output = file.path.string();
  options.most_accuracy_loss = -1;
  options.fine_tuning_epochs = 1;
  options.raises = 0;
  const Report low = run(options, {});
  ASSERT_TRUE(low.recovery);
  // Just enough for these ranks.
  options.run.memory.budget = std::to_string(low.recovery->peak_bytes) + "B";
  options.raises = 3;
  std::string said;
  train::Hooks hooks;
  hooks.say = [&](const std::string& line) { said += line + "\n"; };
  const Report report = run(options, hooks);
  EXPECT_THAT(said, HasSubstr("with higher ranks the budget is not kept"));
  // As far as there was room.
  EXPECT_LT(report.raises, options.raises);
  ASSERT_TRUE(report.recovery);
  EXPECT_FALSE(report.recovery->is_back);
  EXPECT_LE(report.recovery->peak_bytes, report.budget_bytes);
  // What is told is what is written.
  const train::TensorFile written = train::read_tensor_file(file.path);
  std::int64_t parameters = 0;
  for (const auto& [name, tensor] : written.tensors) parameters += tensor.numel();
  EXPECT_EQ(report.parameters, parameters);
  for (const auto& [layer, form] : report.forms) {
    EXPECT_EQ(written.texts.at("form/" + layer), to_string(form));
  }
}

TEST(Ctdr, AChoiceIsMadeByThePlansThatTheTrainingHas) {
  const TemporaryFile text("lowtide_ctdr_text"), checkpoint("lowtide_ctdr_gpt");
  Options options = small_gpt(text.path);
  options.run.training.batch = 64;
  options.run.checkpoint = checkpoint.path.string();
  train::RunOptions training = options.run;
  training.steps = 2;
  static_cast<void>(train::run(training, {}));
  options.run.memory.budget = "70%";
  options.most_accuracy_loss = 1;
  EXPECT_EQ(refusal_of(options), "kept");
  // Its plans evict nothing.
  options.run.memory.policy = "keep_all";
  options.everywhere = false;
  options.rules.ranks[0].value = 50;
  EXPECT_THAT(refusal_of(options), HasSubstr("no choice of layers and no plan keeps"));
}

TEST(Ctdr, WhatWasWrittenIsReadBackIntoAFreshModel) {
  const TemporaryFile file("lowtide_ctdr_weights.safetensors");
  Options options = never_back();
  options.raises = 0;
  options.output = file.path.string();
  const Report report = run(options, {});
  ASSERT_FALSE(report.forms.empty());
  train::TrainingOptions training = options.run.training;
  training.seed = 7;
  training.prepare = weights_loader(file.path, "lenet5");
  const auto data = train::open_data_for(training);
  const auto again =
      train::Training(training, data).evaluate([](const std::function<void()>& body) { body(); });
  EXPECT_EQ(again->loss, report.recovery->after_fine_tuning.loss);
  EXPECT_THROW(static_cast<void>(weights_loader(file.path, "small_resnet")), InvalidInput);
  const zoo::Model other = zoo::make_model("lenet5", {.classes = 7});
  EXPECT_THROW(training.prepare(*other.module), InvalidInput);
}

TEST(Ctdr, RaisedSetsAreTimedAndPlannedAndTheAttemptBeforeIsTold) {
  Options options = never_back();
  options.raises = 1;
  const Report report = run(options, {});
  ASSERT_EQ(report.raises, 1);
  EXPECT_EQ(report.chosen().forms, report.forms);
  EXPECT_GT(report.chosen().judgement.plain_seconds, 0);
  EXPECT_EQ(*report.choice.chosen, report.choice.trials.size() - 1);
  ASSERT_EQ(report.attempts.size(), 1U);
  EXPECT_GT(report.parameters, report.attempts[0].parameters);
  EXPECT_LT(report.parameters, report.dense_parameters);
  // Nothing was trained, so what was reached stays what it was.
  EXPECT_NEAR(report.recovery->after_fine_tuning.loss,
              report.attempts[0].recovery.after_fine_tuning.loss, 1e-4);
}

TEST(Ctdr, TheRiseOfTheLossDoesNotDependOnStatisticsThatAreTakenAnew) {
  Options options = lenet();
  options.run.training.model = "small_resnet";
  options.run.training.model_options.width = 4;
  options.run.training.batch = 10;
  const auto data = train::open_data_for(options.run.training);
  train::Training training(options.run.training, data);
  train::State state;
  for (const auto& [name, tensor] : training.state()) {
    state.push_back({name, tensor.detach().clone()});
  }
  const CandidateRules rules = {.ranks = {{RankRule::Kind::kCompression, 0.25}},
                                .has_reconstructed = false,
                                .takes_untrained = true};
  const auto rises = [&] {
    DenseModel dense(options.run.training, state);
    std::vector<double> found;
    for (const LayerOptions& layer : find_candidates(dense, *data, rules, {})) {
      for (const Option& option : layer.options) found.push_back(option.loss_rise);
    }
    return found;
  };
  const std::vector<double> before = rises();
  for (auto& [name, tensor] : state) {
    if (name.ends_with("running_mean")) tensor.add_(3);
  }
  EXPECT_EQ(rises(), before);
  EXPECT_GT(*std::max_element(before.begin(), before.end()), 0);
}

TEST(Ctdr, RanksOfAllLayersTogetherMeetATotal) {
  Options options = lenet();
  const auto data = train::open_data_for(options.run.training);
  train::Training training(options.run.training, data);
  DenseModel dense(options.run.training, training.state());
  const double dense_bytes = 61470.0 * 4 * 3;  // weight, gradient, momentum
  for (const RankRule rule : {RankRule{RankRule::Kind::kTotal, 0.4},
                              RankRule{RankRule::Kind::kTotalBytes, 0.4 * dense_bytes}}) {
    const CandidateRules rules = {.methods = CandidateRules().methods,
                                  .ranks = {rule},
                                  .has_reconstructed = false,
                                  .takes_untrained = true};
    std::int64_t all = 0, left = 0;
    for (const LayerOptions& layer : find_candidates(dense, *data, rules, {})) {
      all += layer.info.parameters;
      left += layer.options.empty() ? layer.info.parameters : layer.options[0].parameters;
    }
    EXPECT_EQ(all, 61470);
    EXPECT_LE(left, 0.4 * static_cast<double>(all));
    EXPECT_GT(left, 0.2 * static_cast<double>(all));
  }
}

// small_resnet with convolutions of up to 32 channels, as it is initialised.
std::vector<LayerOptions> candidates_of_resnet(CandidateRules rules) {
  Options options = lenet();
  options.run.training.model = "small_resnet";
  options.run.training.model_options.width = 8;
  options.run.training.batch = 10;
  const auto data = train::open_data_for(options.run.training);
  train::Training training(options.run.training, data);
  DenseModel dense(options.run.training, training.state());
  rules.takes_untrained = true;
  return find_candidates(dense, *data, rules, {});
}

std::string refusal_of_rules(CandidateRules rules) {
  try {
    static_cast<void>(candidates_of_resnet(std::move(rules)));
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "none";
}

TEST(Ctdr, TheLargestRankThatHelpsIsOneOfTheMethod) {
  const CandidateRules tucker = {.methods = {Decomposition::kSvd, Decomposition::kTucker2},
                                 .ranks = {{RankRule::Kind::kFixed, 30}},
                                 .has_reconstructed = false};
  EXPECT_THAT(refusal_of_rules(tucker), HasSubstr("the largest rank that could help is 28"));
  CandidateRules possible = tucker;
  possible.ranks[0].value = 28;
  EXPECT_EQ(refusal_of_rules(possible), "none");
}

TEST(Ctdr, RanksOfAllLayersTogetherMeetATotalWithCpToo) {
  Options options = lenet();
  const auto data = train::open_data_for(options.run.training);
  train::Training training(options.run.training, data);
  DenseModel dense(options.run.training, training.state());
  for (const Decomposition method : {Decomposition::kCp3, Decomposition::kCp4}) {
    const CandidateRules rules = {.methods = {Decomposition::kSvd, method},
                                  .ranks = {{RankRule::Kind::kTotal, 0.4}},
                                  .has_reconstructed = false,
                                  .takes_untrained = true};
    std::int64_t left = 0;
    for (const LayerOptions& layer : find_candidates(dense, *data, rules, {})) {
      left += layer.options.empty() ? layer.info.parameters : layer.options[0].parameters;
    }
    EXPECT_LE(left, 0.4 * 61470);
  }
}

// As close as one likes to rank 7, which is half of the parameters, with terms that cancel each
// other: multiplies polynomials and forgets coefficients above 6.
at::Tensor of_lower_border_rank() {
  const at::Tensor weight = at::zeros({6, 6, 9});
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; i + j <= 6 && j < 6; ++j) weight[i][j][6 - i - j] = 1;
  }
  return weight.view({6, 6, 3, 3});
}

TEST(Ctdr, ALayerWhoseTermsCancelEachOtherStaysDenseAndTheOthersMeetTheTotal) {
  Options options = lenet();
  options.run.training.model = "small_resnet";
  options.run.training.model_options.width = 6;
  options.run.training.batch = 10;
  const auto data = train::open_data_for(options.run.training);
  train::Training training(options.run.training, data);
  train::State state;
  std::string degenerate;
  for (const auto& [name, tensor] : training.state()) {
    state.push_back({name, tensor.detach().clone()});
    const bool is_first = degenerate.empty() && name.starts_with("parameter/") &&
                          tensor.sizes() == at::IntArrayRef({6, 6, 3, 3});
    if (!is_first) continue;
    state.back().tensor = of_lower_border_rank();
    degenerate = name.substr(10, name.size() - 10 - std::string(".weight").size());
  }
  ASSERT_FALSE(degenerate.empty());
  DenseModel dense(options.run.training, state);
  const CandidateRules rules = {.methods = {Decomposition::kSvd, Decomposition::kCp3},
                                .ranks = {{RankRule::Kind::kTotal, 0.5}},
                                .has_reconstructed = false,
                                .takes_untrained = true};
  std::int64_t all = 0, left = 0;
  for (const LayerOptions& layer : find_candidates(dense, *data, rules, {})) {
    all += layer.info.parameters;
    left += layer.options.empty() ? layer.info.parameters : layer.options[0].parameters;
    if (layer.info.name != degenerate) continue;
    EXPECT_TRUE(layer.options.empty());
    EXPECT_THAT(layer.reason, HasSubstr("cp is degenerate"));
  }
  EXPECT_LE(left, all / 2);
}

TEST(Ctdr, UntrainedLayersStayDenseUnlessTheyAreAskedFor) {
  Options options = lenet();
  const auto data = train::open_data_for(options.run.training);
  train::Training training(options.run.training, data);
  DenseModel dense(options.run.training, training.state());
  CandidateRules rules = {.ranks = {{RankRule::Kind::kCompression, 0.5}},
                          .has_reconstructed = false};
  const auto named = [&](const std::string& name) {
    for (const LayerOptions& layer : find_candidates(dense, *data, rules, {})) {
      if (layer.info.name == name) return layer;
    }
    return LayerOptions{};
  };
  EXPECT_TRUE(named("c5").options.empty());
  EXPECT_THAT(named("c5").reason, HasSubstr("looks untrained"));
  // Too small to tell.
  EXPECT_EQ(named("c1").options.size(), 2U);
  rules.takes_untrained = true;
  EXPECT_TRUE(named("c5").is_noise);
  EXPECT_EQ(named("c5").options.size(), 1U);
}

TEST(Ctdr, GivenFormsAreTakenAsTheyAre) {
  Options options = lenet();
  const auto data = train::open_data_for(options.run.training);
  train::Training training(options.run.training, data);
  DenseModel dense(options.run.training, training.state());
  const auto refusal = [&](const Forms& forms, bool taken = false) -> std::string {
    try {
      static_cast<void>(
          find_candidates(dense, *data, {.given = forms, .takes_untrained = taken}, {}));
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "none";
  };
  const LayerForm svd = {Decomposition::kSvd, {12}};
  const CandidateRules rules = {.given = Forms{{"c5", svd}, {"f6", {}}}, .takes_untrained = true};
  for (const LayerOptions& layer : find_candidates(dense, *data, rules, {})) {
    EXPECT_EQ(layer.options.size(), layer.info.name == "c5" ? 1U : 0U) << layer.info.name;
    for (const Option& option : layer.options) EXPECT_EQ(option.form, svd);
  }
  EXPECT_THAT(refusal({{"c55", svd}}), HasSubstr("did you mean 'c5'"));
  EXPECT_THAT(refusal({{"c5", svd}}), HasSubstr("layer 'c5' cannot become svd 12"));
  EXPECT_THAT(refusal({{"c3", {Decomposition::kTucker2, {7, 7}}}}, true),
              HasSubstr("the nearest is 6"));
}

TEST(Ctdr, AWeightThatIsNotFiniteIsNamed) {
  Options options = lenet();
  const auto data = train::open_data_for(options.run.training);
  train::Training training(options.run.training, data);
  train::State state;
  for (const auto& [name, tensor] : training.state())
    state.push_back({name, tensor.detach().clone()});
  for (auto& [name, tensor] : state) {
    if (name == "parameter/f6.weight") tensor[0][0] = std::numeric_limits<float>::quiet_NaN();
  }
  DenseModel dense(options.run.training, state);
  try {
    static_cast<void>(dense.factors("f6", {Decomposition::kSvd, {4}}));
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("layer 'f6': the weight has values that are not finite"));
  }
  EXPECT_THROW(static_cast<void>(find_candidates(dense, *data, {}, {})), InvalidInput);
}

}  // namespace
}  // namespace lowtide::ctdr
