// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/run.h"

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/suggest.h"
#include "ctdr/dense_model.h"
#include "ctdr/raise.h"
#include "ctdr/weights_file.h"
#include "train/checkpoint.h"
#include "train/working_budget.h"

namespace lowtide::ctdr {
namespace {

void load_checkpoint(const train::RunOptions& options, train::Training& training) {
  LT_REQUIRE(train::has_checkpoint(options.checkpoint), "there is no checkpoint in ",
             options.checkpoint,
             "; make one with 'lowtide train --checkpoint', or leave --checkpoint out");
  train::load_checkpoint(options.checkpoint, training, options.training);
}

class Run {
 public:
  Run(Options options, const train::Hooks& hooks) : options_(std::move(options)), hooks_(hooks) {}

  Report go() {
    data_ = train::open_data_for(options_.run.training);
    report_.training = options_.run.training;
    const bool is_done = find_budget() && train_dense() && choose_forms() && recover_accuracy() &&
                         find_largest_batch();
    if (!is_done && report_.stopped.empty()) report_.stopped = "before anything was fine-tuned";
    return std::move(report_);
  }

 private:
  bool find_budget() {
    const std::string& budget = options_.run.memory.budget;
    if (budget.empty()) return true;
    std::int64_t whole = 1;
    if (train::is_share(budget)) {
      hooks_.say("measuring what the dense net takes without a budget");
      whole = train::measure_plain_peak(options_.run.training, data_, hooks_.is_stopped);
      // What was measured until then is no peak to take a share of.
      if (hooks_.is_stopped()) return false;
    }
    report_.budget_bytes = base::parse_budget(budget, whole);
    LT_REQUIRE(report_.budget_bytes > 0, "a budget of nothing cannot be kept: ", budget);
    return true;
  }

  bool train_dense() {
    const std::optional<TrainedNet> net = within_budget(options_.run.training, [&] {
      return trained_net(options_.run, report_.budget_bytes, data_, hooks_);
    });
    if (!net) return false;
    report_.before = net->evaluation;
    dense_.emplace(options_.run.training, net->state, options_.rules.cp_sweeps);
    for (const auto& [name, tensor] : net->state) {
      if (name.starts_with("parameter/")) report_.dense_parameters += tensor.numel();
    }
    return true;
  }

  // A refusal gets a budget that was found to work for what is trained.
  template <class Body>
  auto within_budget(const train::TrainingOptions& training, const Body& body) -> decltype(body()) {
    try {
      return body();
    } catch (const OutOfMemory& refusal) {
      if (report_.budget_bytes == 0) throw;
      throw train::with_working_budget({.training = training,
                                        .memory = options_.run.memory,
                                        .data = data_,
                                        .budget_bytes = report_.budget_bytes,
                                        .refusal = refusal},
                                       hooks_);
    }
  }

  std::optional<Judgement> judge_forms(const Forms& forms) {
    // Without a budget the plain step is what counts.
    const std::int64_t budget =
        report_.budget_bytes > 0 ? report_.budget_bytes : options_.machine.device_bytes;
    JudgeOptions judged = judge_as_in(
        train::session_options(options_.run.memory, budget, options_.run.training.device),
        options_.machine);
    judged.budget_bytes = budget;
    judged.think_seconds = options_.think_seconds;
    std::optional<Judgement> found = judge(dense_->with(forms), judged, hooks_);
    if (!found) return std::nullopt;
    hooks_.say(base::concat(
        forms.size(), " layers decomposed: plain ", base::format_seconds(found->plain_seconds),
        " and ", base::format_bytes(found->plain_peak_bytes), ", within the budget ",
        found->planned_seconds ? base::format_seconds(*found->planned_seconds)
                               : base::concat("no plan; smallest known ",
                                              base::format_bytes(found->smallest_budget_bytes))));
    return found;
  }

  bool choose_forms() {
    hooks_.say("measuring what each layer could become");
    const std::vector<LayerOptions> layers =
        find_candidates(*dense_, *data_, options_.rules, hooks_);
    warn_of_noise(layers);
    const std::optional<Judgement> plain = judge_forms({});
    if (!plain || hooks_.is_stopped()) return false;
    std::vector<LayerChoice> ranked = rank_choices(layers, *plain);
    std::optional<Choice> choice = choose(
        std::move(ranked), options_.everywhere,
        [&](const Forms& forms) -> std::optional<Judgement> {
          if (forms.empty()) return plain;
          return judge_forms(forms);
        },
        options_.most_trials);
    if (!choice) return false;
    report_.choice = std::move(*choice);
    require_chosen();
    report_.forms = report_.chosen().forms;
    return true;
  }

  void warn_of_noise(const std::vector<LayerOptions>& layers) {
    for (const LayerOptions& layer : layers) {
      if (layer.is_noise) report_.untrained.push_back(layer.info.name);
    }
    if (report_.untrained.empty()) return;
    const char* const what =
        options_.rules.takes_untrained ? "are decomposed all the same" : "stay dense";
    hooks_.say(base::concat("warning: the weights of ", base::join(report_.untrained),
                            " look untrained and ", what,
                            ": nothing of them stands out of random numbers, so lower ranks lose "
                            "what there is"));
  }

  void require_chosen() {
    if (report_.choice.chosen) return;
    const Trial* nearest = nullptr;
    for (const Trial& trial : report_.choice.trials) {
      // With --everywhere the dense net may fit, and is not what was asked for.
      if (trial.judgement.planned_seconds) continue;
      const std::int64_t budget = trial.judgement.smallest_budget_bytes;
      if (!nearest || budget < nearest->judgement.smallest_budget_bytes) nearest = &trial;
    }
    LT_CHECK(nearest != nullptr, "nothing is chosen, although all keep the budget");
    throw refusal_with(*nearest);
  }

  // Plans know one budget, and whether the net trains in it is tried. Below it there is no plan, so
  // nothing below is looked at.
  OutOfMemory refusal_with(const Trial& nearest) {
    const std::int64_t planned = nearest.judgement.smallest_budget_bytes;
    const OutOfMemory refusal(
        base::concat(
            "no choice of layers and no plan keeps ", base::format_bytes(report_.budget_bytes),
            "; by simulation the smallest budget that can be kept is ", base::format_bytes(planned),
            " with ", nearest.forms.size(), " layers decomposed."),
        planned, 0);
    return train::with_working_budget({.training = dense_->with(nearest.forms),
                                       .memory = options_.run.memory,
                                       .data = data_,
                                       .budget_bytes = planned - planned / 10,
                                       .refusal = refusal},
                                      hooks_);
  }

  bool recover_accuracy() {
    count_parameters();
    if (report_.forms.empty()) return keep_dense();
    report_.recovery = within_budget(dense_->with(report_.forms), [&] {
      return recover_once(dense_->with(report_.forms), /*is_raise=*/false);
    });
    if (!report_.recovery) return false;
    if (report_.recovery->was_interrupted) {
      report_.stopped = base::concat("after step ", report_.recovery->steps, " of fine-tuning");
      return false;
    }
    while (!report_.recovery->is_back && report_.raises < options_.raises) {
      hooks_.say("the accuracy is not back; raising the ranks of the most sensitive layers");
      const std::optional<Trial> raised = find_raised();
      if (!raised) return stop("while higher ranks were tried");
      switch (try_raised(*raised)) {
        case Raise::kDone:
          continue;
        case Raise::kDense:
          return keep_dense();
        case Raise::kBeyondBudget:
          return true;
        case Raise::kStopped:
          return stop("while higher ranks were tried");
      }
    }
    return true;
  }

  bool stop(const char* when) {
    report_.stopped = when;
    return false;
  }

  // With everything decomposed that can be, nobody asked for time.
  Prices prices() const {
    if (options_.everywhere) return {.second = 0, .byte = 1};
    return prices_of(report_.chosen().judgement);
  }

  // A set that does half of the harm, timed and planned as those were that were chosen from.
  // Nothing if the user stopped it.
  std::optional<Trial> find_raised() {
    std::vector<LayerChoice>& layers = report_.choice.layers;
    add_raised(layers, report_.forms, report_.dense().judgement, *dense_, *data_, options_.rules,
               hooks_);
    if (hooks_.is_stopped()) return std::nullopt;
    Trial trial = {.forms = with_half_the_harm(layers, report_.forms, prices()),
                   .judgement = report_.dense().judgement};
    if (trial.forms.empty()) return trial;
    const std::optional<Judgement> judgement = judge_forms(trial.forms);
    if (!judgement) return std::nullopt;
    trial.judgement = *judgement;
    return trial;
  }

  enum class Raise { kDone, kDense, kBeyondBudget, kStopped };

  // What was fine-tuned before stays the result, and what was written, where higher ranks do not
  // keep the budget or the user stopped it.
  Raise try_raised(const Trial& raised) {
    if (!raised.judgement.planned_seconds) {
      return beyond_budget(
          base::concat("by simulation the smallest that can be kept is ",
                       base::format_bytes(raised.judgement.smallest_budget_bytes)));
    }
    if (raised.forms.empty()) return Raise::kDense;
    if (!options_.everywhere && !is_better(raised.judgement, report_.dense().judgement) &&
        report_.dense().judgement.planned_seconds) {
      hooks_.say("with higher ranks the step is no quicker than the dense net's");
      return Raise::kDense;
    }
    const Forms before = std::exchange(report_.forms, raised.forms);
    try {
      std::optional<Recovery> recovery =
          recover_once(dense_->with(raised.forms, *tuned_), /*is_raise=*/true);
      if (recovery) {
        tell_of_attempt(before.size());
        report_.recovery = std::move(recovery);
        take_raised(before, raised);
        return Raise::kDone;
      }
    } catch (const OutOfMemory& refusal) {
      report_.forms = before;
      return beyond_budget(refusal.what());
    }
    report_.forms = before;
    return Raise::kStopped;
  }

  Raise beyond_budget(const std::string& why) {
    hooks_.say(
        base::concat("with higher ranks the budget is not kept, so the ranks before stay: ", why));
    return Raise::kBeyondBudget;
  }

  void take_raised(const Forms& before, const Trial& raised) {
    ++report_.raises;
    for (const auto& [layer, form] : before) {
      if (!raised.forms.contains(layer)) report_.undone.insert(layer);
    }
    take_forms(report_.choice.layers, raised.forms);
    report_.choice.trials.push_back(raised);
    report_.choice.chosen = report_.choice.trials.size() - 1;
    count_parameters();
  }

  // Of the fine-tuning whose forms are about to be given up, if there was any.
  void tell_of_attempt(std::size_t layers) {
    if (report_.recovery) {
      report_.attempts.push_back({layers, report_.parameters, *report_.recovery});
    }
  }

  // A net that was not changed has lost nothing, and is trained no further.
  bool keep_dense() {
    tell_of_attempt(report_.forms.size());
    for (const auto& [layer, form] : report_.forms) report_.undone.insert(layer);
    report_.forms.clear();
    count_parameters();
    report_.recovery.reset();
    report_.choice.chosen = 0;
    hooks_.say("no layer is decomposed: the net stays as it was");
    write(dense_->state(), {}, nullptr);
    return true;
  }

  void write(const train::State& state, const Forms& forms, Session* session) {
    if (options_.output.empty()) return;
    write_weights(options_.output, state, forms, *dense_, options_.is_merged, session);
    report_.written = options_.output;
  }

  // One that is tried for higher ranks and does not come to its end is no better than what is
  // there.
  std::optional<Recovery> recover_once(const train::TrainingOptions& training, bool is_raise) {
    const RecoveryOptions recovery = {
        .memory = options_.run.memory,
        .budget_bytes = report_.budget_bytes,
        .wanted_accuracy = report_.before->accuracy - options_.most_accuracy_loss,
        .epochs = options_.fine_tuning_epochs,
        .rate_share = options_.rate_share,
        .keeps_interrupted = !is_raise};
    hooks_.say(base::concat("fine-tuning ", report_.forms.size(),
                            " decomposed layers; the optimizer's states start over"));
    const auto keep = [&](const train::Training& tuned, Session& session) {
      write(tuned.state(), report_.forms, &session);
      if (options_.raises > 0) tuned_ = {report_.forms, host_copies(tuned.state(), &session)};
    };
    return recover(training, data_, recovery, keep, hooks_);
  }

  bool find_largest_batch() {
    if (options_.batch_budget.empty()) return true;
    train::RunOptions options = options_.run;
    options.training = dense_->with(report_.forms);
    options.memory.budget = options_.batch_budget;
    report_.max_batch = train::max_batch(options, {}, hooks_);
    if (!report_.max_batch->was_interrupted) return true;
    report_.max_batch.reset();
    report_.stopped = "before the largest batch was found";
    return false;
  }

  void count_parameters() {
    report_.parameters = report_.dense_parameters;
    for (const auto& [layer, form] : report_.forms) {
      const at::IntArrayRef sizes = dense_->weight(layer).sizes();
      report_.parameters -=
          c10::multiply_integers(sizes) - decompose::count_parameters(form, sizes);
    }
  }

  Options options_;
  const train::Hooks& hooks_;
  std::shared_ptr<const zoo::DataSet> data_;
  std::optional<DenseModel> dense_;
  // What was fine-tuned last.
  std::optional<TunedModel> tuned_;
  Report report_;
};

}  // namespace

std::optional<TrainedNet> trained_net(const train::RunOptions& options, std::int64_t budget_bytes,
                                      const std::shared_ptr<const zoo::DataSet>& data,
                                      const train::Hooks& hooks) {
  const bool is_trained = !options.checkpoint.empty();
  // To evaluate takes little, and the budget is for what is made of the net.
  Session session(train::session_options(options.memory, is_trained ? 0 : budget_bytes,
                                         options.training.device));
  train::Training training(options.training, data);
  LT_REQUIRE(training.evaluation_examples() > 0,
             "there is nothing to evaluate on in the data, so nobody could tell what is lost: ",
             options.training.data);
  const std::int64_t steps = std::max<std::int64_t>(options.epochs, 1) * training.steps_an_epoch();
  training.set_steps(steps);
  if (is_trained) load_checkpoint(options, training);
  session.end_step();
  if (!is_trained) hooks.say(base::concat("training the dense net for ", steps, " steps"));
  while (!is_trained && training.steps_done() < steps && !hooks.is_stopped()) {
    session.step([&training] { training.step(); });
  }
  const std::optional<train::Evaluation> evaluation =
      training.evaluate([&](const std::function<void()>& body) {
        if (!hooks.is_stopped()) session.step(body);
      });
  if (hooks.is_stopped()) return std::nullopt;
  TrainedNet net = {.state = {}, .evaluation = *evaluation};
  for (const train::NamedTensor& item : training.state()) {
    session.hold(item.tensor);
    net.state.push_back({item.name, item.tensor.detach().clone()});
    session.release(item.tensor);
  }
  return net;
}

Report run(Options options, const train::Hooks& hooks) {
  return Run(std::move(options), hooks).go();
}

}  // namespace lowtide::ctdr
