// All connections of one rank.
#pragma once

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "runtime/control_lane.h"
#include "runtime/journal.h"
#include "runtime/receive_lane.h"
#include "runtime/send_lane.h"

namespace forestcoll::runtime {

struct Lanes {
  std::vector<std::unique_ptr<SendLane>> senders;        // by lane; null for those of other ranks
  std::vector<std::unique_ptr<ReceiveLane>> receivers;   // by lane
  std::map<int, std::unique_ptr<ControlLane>> controls;  // by rank

  void add(std::int32_t lane, std::unique_ptr<SendLane> sender) { place(senders, lane) = std::move(sender); }
  void add(std::int32_t lane, std::unique_ptr<ReceiveLane> receiver) { place(receivers, lane) = std::move(receiver); }

  SendLane& sender(std::int32_t lane) const { return *senders[static_cast<std::size_t>(lane)]; }
  ReceiveLane& receiver(std::int32_t lane) const { return *receivers[static_cast<std::size_t>(lane)]; }

  void close() {
    receivers.clear();
    senders.clear();
    controls.clear();
  }

  // Leaves them as they are: in a fork of the process, they belong to the parent.
  void forget() {
    for (auto& lane : senders) static_cast<void>(lane.release());
    for (auto& lane : receivers) static_cast<void>(lane.release());
    for (auto& [peer, lane] : controls) static_cast<void>(lane.release());
  }

  void abandon_data() {
    for (auto& lane : senders) {
      if (lane) lane->abandon();
    }
    for (auto& lane : receivers) {
      if (lane) lane->abandon();
    }
  }

  // Sends a frame to all neighbours.
  void tell_all(const FrameHeader& header, std::string_view payload = {}) const {
    for (const auto& [peer, lane] : controls) lane->send(header, payload);
  }

  // The ranks that `operation` waits for.
  std::vector<Awaited> awaited(const Operation& operation) const {
    std::set<int> sources, targets;
    const auto [incoming, outgoing] = operation.lanes_waited_for();
    for (const std::int32_t lane : incoming) sources.insert(receiver(lane).peer());
    for (const std::int32_t lane : outgoing) targets.insert(sender(lane).peer());
    std::vector<Awaited> found;
    for (const int peer : sources) found.push_back({peer, true});
    for (const int peer : targets) found.push_back({peer, false});
    return found;
  }

  // Whether the other ends have everything.
  bool is_flushed() const {
    return std::ranges::all_of(senders, [](const auto& lane) { return !lane || is_empty(*lane); }) &&
           std::ranges::all_of(receivers,
                               [](const auto& lane) { return !lane || !lane->is_open() || !lane->has_waiting(); }) &&
           std::ranges::all_of(controls, [](const auto& each) {
             return is_empty(*each.second) && (!each.second->is_open() || !each.second->has_waiting());
           });
  }

 private:
  template <class Lane>
  static std::unique_ptr<Lane>& place(std::vector<std::unique_ptr<Lane>>& lanes, std::int32_t lane) {
    lanes.resize(std::max(lanes.size(), static_cast<std::size_t>(lane) + 1));
    return lanes[static_cast<std::size_t>(lane)];
  }

  static bool is_empty(const Connection& lane) {
    int unsent = 0, domain = 0;
    socklen_t size = sizeof domain;
    const bool is_known = getsockopt(lane.socket(), SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0;
    if (is_known && domain == AF_UNIX) return true;  // what was written is with the other end already
    pollfd state{lane.socket(), 0, 0};
    if (!lane.is_open() || ioctl(lane.socket(), SIOCOUTQ, &unsent) != 0 || unsent == 0) return true;
    return ::poll(&state, 1, 0) > 0;  // the other end has closed, and takes nothing more
  }
};

}  // namespace forestcoll::runtime
