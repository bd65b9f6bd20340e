// Which handles are alive: a handle that was never made or is already destroyed is an error, not a
// crash.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace wavesim::hip {

template <class T>
class Handles {
public:
  T* add(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    T* handle = object.get();
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  bool alive(const T* handle) const {
    const std::lock_guard lock(mutex_);
    return objects_.contains(handle);
  }
  /// The object, no longer alive; null when it was not.
  std::unique_ptr<T> take(const T* handle) {
    const std::lock_guard lock(mutex_);
    const auto it = objects_.find(handle);
    if (it == objects_.end())
      return nullptr;
    auto object = std::move(it->second);
    objects_.erase(it);
    return object;
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [handle, object] : objects_)
      visit(*object);
  }

private:
  mutable std::mutex mutex_;
  std::unordered_map<const T*, std::unique_ptr<T>> objects_;
};

/// One per kind of handle; never destroyed, as programs use the runtime until their very end.
template <class T>
Handles<T>& handles() {
  static auto* all = new Handles<T>;
  return *all;
}

/// Base of objects whose handles come from more than one owner (nodes, graphs inside nodes): every
/// existing object is a valid handle.
template <class T>
class Tracked {
public:
  static bool alive(const T* object) {
    const std::lock_guard lock(all().mutex);
    return all().objects.contains(object);
  }

protected:
  Tracked() {
    const std::lock_guard lock(all().mutex);
    all().objects.insert(static_cast<const T*>(this));
  }
  ~Tracked() {
    const std::lock_guard lock(all().mutex);
    all().objects.erase(static_cast<const T*>(this));
  }
  Tracked(const Tracked&) = delete;
  Tracked& operator=(const Tracked&) = delete;

private:
  struct All {
    std::mutex mutex;
    std::unordered_set<const T*> objects;
  };
  static All& all() {
    static auto* everything = new All;
    return *everything;
  }
};

} // namespace wavesim::hip
