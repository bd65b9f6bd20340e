#include "hip/held_back.hpp"

#include "checks/session.hpp"
#include "hip/stream.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

namespace wavesim::hip {

namespace {
struct Queue;
}

struct HeldWork {
  Operation operation;
  int device = 0;
  Queue* queue = nullptr;
  std::vector<std::shared_ptr<HeldWork>> behind; ///< work of other streams
  bool done = false;
};

namespace {

using Work = std::shared_ptr<HeldWork>;

struct Queue {
  std::deque<Work> works;
  std::vector<Work> behind; ///< for the next one
  bool legacy = false, blocking = false;
  int device = 0;
  Work last() const { return works.empty() ? nullptr : works.back(); }
};

struct Held {
  std::recursive_mutex mutex; ///< host functions among the work run under it
  std::map<std::uint64_t, std::unique_ptr<Queue>> queues; ///< by age of the stream
  std::map<const ihipStream_t*, std::uint64_t> ages;
  std::uint64_t next_age = 0;

  Queue& of(const ihipStream_t& stream) {
    const auto [it, fresh] = ages.try_emplace(&stream, next_age);
    if (fresh) {
      ++next_age;
      auto queue = std::make_unique<Queue>();
      queue->legacy = stream.null_stream;
      queue->blocking = !stream.null_stream && !(stream.flags & hipStreamNonBlocking);
      queue->device = stream.device;
      queues.emplace(it->second, std::move(queue));
    }
    return *queues.at(it->second);
  }
};

Held& held() {
  static auto* only = new Held;
  return *only;
}

/// Front to back, so that what an older work waits for is never far away.
void run_up_to(Queue& queue, const Work& target) {
  while (!target->done && !queue.works.empty()) {
    const Work work = queue.works.front();
    for (const Work& other : work->behind)
      if (!other->done)
        run_up_to(*other->queue, other);
    if (work->done)
      continue;
    queue.works.pop_front();
    work->done = true;
    work->behind.clear();
    // The call that enqueued it has long returned: there is nobody to give an error to.
    static_cast<void>(execute(work->operation, work->device));
    work->operation = EmptyOperation{};
  }
}

} // namespace

bool holding_back() {
  static const bool on = enabled_checks().has(Check::stream);
  return on;
}

void hold_back(ihipStream_t& stream, Operation operation) {
  const std::lock_guard lock(held().mutex);
  Queue& queue = held().of(stream);
  auto work = std::make_shared<HeldWork>();
  work->operation = std::move(operation);
  work->device = stream.device;
  work->queue = &queue;
  work->behind = std::move(queue.behind);
  queue.behind.clear();
  // The legacy default stream waits for blocking streams, and they for it.
  for (const auto& [age, other] : held().queues)
    if (other->device == queue.device && other->last() &&
        ((queue.legacy && other->blocking) || (queue.blocking && other->legacy)))
      work->behind.push_back(other->last());
  queue.works.push_back(std::move(work));
}

void hold_behind(ihipStream_t& stream, const Work& work) {
  const std::lock_guard lock(held().mutex);
  if (work && !work->done)
    held().of(stream).behind.push_back(work);
}

Work last_held(ihipStream_t& stream) {
  const std::lock_guard lock(held().mutex);
  return held().of(stream).last();
}

void finish_held(const Work& work) {
  const std::lock_guard lock(held().mutex);
  if (work && !work->done)
    run_up_to(*work->queue, work);
}

void finish_held(ihipStream_t& stream) {
  const std::lock_guard lock(held().mutex);
  Queue& queue = held().of(stream);
  for (const Work& other : std::exchange(queue.behind, {}))
    finish_held(other);
  if (const Work last = queue.last())
    run_up_to(queue, last);
}

void finish_all_held() {
  const std::lock_guard lock(held().mutex);
  // The youngest stream first: the reverse of what running at once does.
  for (auto it = held().queues.rbegin(); it != held().queues.rend(); ++it)
    if (const Work last = it->second->last())
      run_up_to(*it->second, last);
}

void forget_held(ihipStream_t& stream) {
  const std::lock_guard lock(held().mutex);
  const auto it = held().ages.find(&stream);
  if (it == held().ages.end())
    return;
  finish_held(stream);
  // The queue stays: other work may still name it.
  held().ages.erase(it);
}

} // namespace wavesim::hip
