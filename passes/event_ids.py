"""Event ids for the flags of a kernel: between two pipes only a few flags can be on their way at once.

A flag holds its id from `set_flag` to `wait_flag` in program order, one that iterations hand on from before the loop to after it —
so ids are coloured like registers, by a linear scan over lives. Where they run out, a flag gives up being early (set right before its
wait it needs an id for a moment only), then flags of one loop are merged, and what still finds no id must become a barrier.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

from ascir.dialects.memory import Pipe


@dataclass(eq=False)
class Place:
    """When something happens in program order: `enter` before it, `leave` after it, whatever it contains in between.

    `block` numbers the block it stands in.
    """

    enter: int
    leave: int
    block: int


@dataclass(eq=False)
class Flag:
    """Orders what `destination` does from `before` on after what `source` does up to `after`; both are in one block.

    With `loop`, `after` belongs to an iteration and `before` to the next: the flag is set before the loop, waited for in each
    iteration, set again, and waited for once more after the loop. `late`: set right before the wait.
    """

    source: Pipe
    destination: Pipe
    after: Place
    before: Place
    loop: Place | None = None
    late: bool = False
    event: int = -1

    @property
    def life(self) -> tuple[int, int]:
        """When the id is taken and when it is free again. In a gap: drains, sets; then waits, late pairs, sets before a loop."""
        if self.loop is not None:
            return 4 * self.loop.enter + 2, 4 * self.loop.leave
        if self.late:
            return 4 * self.before.enter + 1, 4 * self.before.enter + 1
        return 4 * self.after.leave + 1, 4 * self.before.enter


    def serves(self, other: Flag) -> bool:
        """Whether this flag, set late, comes between the set and the wait of another of its pipes and so orders all that it does."""
        if not self.late or other.loop is not None or other is self or other.before.block != self.before.block:
            return False
        return other.after.leave < self.before.enter <= other.before.enter


def assign(flags: Iterable[Flag], ids: Sequence[int]) -> tuple[list[Flag], list[Flag]]:
    """The flags with an event id (possibly late or merged), and those for which there is none."""
    served: list[Flag] = []
    failed: list[Flag] = []
    for group in _by_pipes(flags):
        attempt, without = _attempt(group, len(ids), ids)
        for most in range(len(ids) // 2, 0, -1):
            if without:
                attempt, without = _attempt(group, most, ids)
        failed += without
        served += _needed([f for f in attempt if f.event >= 0])
    return served, failed


def _needed(flags: Sequence[Flag]) -> list[Flag]:
    """Flags of two pipes without those that a late one makes superfluous."""
    kept: list[Flag] = []
    for flag in sorted(flags, key=lambda f: f.before.enter):
        if not any(late.serves(flag) for late in kept):
            kept.append(flag)
    return kept


def _attempt(group: Sequence[Flag], most: int, ids: Sequence[int]) -> tuple[list[Flag], list[Flag]]:
    """The flags with at most `most` of each loop, and those of them that find no id."""
    attempt = [replace(f) for f in _merged(group, most)]
    return attempt, _scan(attempt, ids)


def _by_pipes(flags: Iterable[Flag]) -> Iterator[list[Flag]]:
    groups: dict[tuple[Pipe, Pipe], list[Flag]] = {}
    for flag in flags:
        groups.setdefault((flag.source, flag.destination), []).append(flag)
    yield from groups.values()


def _merged(flags: Sequence[Flag], most: int) -> list[Flag]:
    """At most `most` flags of each loop: neighbours become one, set after the last and waited for before the first."""
    result = [f for f in flags if f.loop is None]
    loops: dict[Place, list[Flag]] = {}
    for flag in flags:
        if flag.loop is not None:
            loops.setdefault(flag.loop, []).append(flag)
    for members in loops.values():
        members.sort(key=lambda f: f.before.enter)
        size = -(-len(members) // most)
        for start in range(0, len(members), size):
            part = members[start : start + size]
            result.append(replace(part[0], after=max((f.after for f in part), key=lambda p: p.leave)))
    return result


def _scan(flags: Sequence[Flag], ids: Sequence[int]) -> list[Flag]:
    """Give ids in the order of lives, making flags late where none is free; return the flags left without."""
    queue = [(*f.life, n) for n, f in enumerate(flags)]
    heapify(queue)
    holders: dict[int, Flag] = {}
    failed: list[Flag] = []
    while queue:
        start, _, n = heappop(queue)
        flag = flags[n]
        holders = {event: f for event, f in holders.items() if f.life[1] >= start}
        event = next((i for i in ids if i not in holders), None)
        if event is None:
            movable = [f for f in (flag, *holders.values()) if f.loop is None and not f.late]
            if not movable:
                failed.append(flag)
                continue
            victim = max(movable, key=lambda f: f.life[1])
            event = victim.event
            victim.late, victim.event = True, -1
            heappush(queue, (*victim.life, flags.index(victim)))
            if victim is flag:
                continue
        flag.event = event
        holders[event] = flag
    return failed
