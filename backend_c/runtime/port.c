// The way to global memory. A core's copies in both directions share what the other cores leave it of the common bandwidth; each is served
// whenever no earlier one is. The other cores are taken to do as this one does: where it used its way for a part of the time so far, so
// did they, and what they leave idle it can use as far as the cores do not run in lockstep. Copies are timed in the order of the program, not of the clock, so one may go into a gap before another that
// was timed first. Between the moment a copy asks and the moment it is done no time is left unused, so what is in use stays a few spans.
#include "core.h"

// Spans k … k + n - 1 become one.
static void replace(ascir_port *port, int32_t k, int32_t n, double from, double to) {
  if (n == 0 && port->spans == MAX_SPANS) {  // no room: the oldest is forgotten, and with it the gap behind it
    port->forgotten = port->to[0];
    memmove(port->from, port->from + 1, (MAX_SPANS - 1) * sizeof *port->from);
    memmove(port->to, port->to + 1, (MAX_SPANS - 1) * sizeof *port->to);
    port->spans--;
    k = k ? k - 1 : 0;
  }
  size_t rest = (size_t)(port->spans - k - n);
  memmove(port->from + k + 1, port->from + k + n, rest * sizeof *port->from);
  memmove(port->to + k + 1, port->to + k + n, rest * sizeof *port->to);
  port->spans += 1 - n;
  port->from[k] = from;
  port->to[k] = to;
}

static double share(const ascir_port *port, double now) {
  double elapsed = now - port->began, use = port->used < elapsed ? port->used / elapsed : 1.0;
  return port->rate / (1.0 + port->others * (use + (1.0 - use) * port->lockstep));
}

double ascir_port_transfer(ascir_port *port, double start, double bytes) {
  if (port->used == 0.0) port->began = start;
  double need = bytes / share(port, start);
  port->used += need;
  start = start > port->forgotten ? start : port->forgotten;
  double now = start;
  int32_t first = 0;
  while (first < port->spans && port->to[first] < start) first++;
  int32_t k = first;
  for (; k < port->spans && port->from[k] <= now + need; k++) {
    if (port->from[k] > now) need -= port->from[k] - now;
    now = port->to[k] > now ? port->to[k] : now;
  }
  double from = k > first && port->from[first] < start ? port->from[first] : start;
  replace(port, first, k - first, from, now + need);
  return now + need;
}
