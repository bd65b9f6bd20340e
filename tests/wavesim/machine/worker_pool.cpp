#include "machine/worker_pool.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace wavesim {

namespace {

class Pool {
public:
  void run(unsigned count, const std::function<void(unsigned)>& work) {
    {
      const std::lock_guard lock(mutex_);
      while (threads_ + 1 < count)
        std::thread([this, index = ++threads_] { serve(index); }).detach();
      work_ = &work;
      count_ = count;
      pending_ = count - 1;
      ++round_;
    }
    wake_.notify_all();
    work(0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return pending_ == 0; });
    work_ = nullptr;
  }

private:
  void serve(unsigned index) {
    std::unique_lock lock(mutex_);
    // A thread is born for the round that is about to start.
    for (unsigned long seen = round_of_birth();;) {
      wake_.wait(lock, [&] { return round_ != seen; });
      seen = round_;
      if (index >= count_ || !work_)
        continue;
      const auto& work = *work_;
      lock.unlock();
      work(index);
      lock.lock();
      if (--pending_ == 0)
        done_.notify_one();
    }
  }

  /// Whatever the thread sees first, it has not worked on yet unless the round is over.
  unsigned long round_of_birth() const { return work_ ? round_ - 1 : round_; }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(unsigned)>* work_ = nullptr;
  unsigned threads_ = 0, count_ = 0, pending_ = 0;
  unsigned long round_ = 0;
};

} // namespace

void run_on_workers(unsigned count, const std::function<void(unsigned)>& work) {
  if (count <= 1) {
    work(0);
    return;
  }
  // Never destroyed: the threads outlive main. After fork() the threads are gone, so is the pool.
  static Pool* pool = nullptr;
  static pid_t owner = 0;
  if (!pool || owner != getpid()) {
    pool = new Pool;
    owner = getpid();
  }
  pool->run(count, work);
}

} // namespace wavesim
