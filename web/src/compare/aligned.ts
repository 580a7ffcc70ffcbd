// Two lists aligned by the longest stretches that they share, as Python's difflib aligns them.

/** A stretch of both lists: from and to in the first, from and to in the second. */
export type Stretch = readonly [number, number, number, number];

/** The stretches that belong together, alike or not, in their order. */
export function stretches(before: readonly string[], after: readonly string[]): Stretch[] {
  const places = new Map<string, number[]>();
  after.forEach((item, place) => {
    const known = places.get(item);
    if (known) known.push(place);
    else places.set(item, [place]);
  });
  const blocks = [...matching(before, places, 0, before.length, 0, after.length), [before.length, after.length, 0] as const];
  const found: Stretch[] = [];
  let [first, second] = [0, 0];
  for (const [begin, start, size] of merged(blocks)) {
    if (first < begin || second < start) found.push([first, begin, second, start]);
    [first, second] = [begin + size, start + size];
    if (size > 0) found.push([begin, first, start, second]);
  }
  return found;
}

type Block = readonly [number, number, number];

/** Blocks that lie side by side are one. */
function merged(blocks: readonly Block[]): Block[] {
  const found: Block[] = [];
  for (const [begin, start, size] of blocks) {
    const last = found[found.length - 1];
    if (last && size > 0 && last[0] + last[2] === begin && last[1] + last[2] === start) {
      found[found.length - 1] = [last[0], last[1], last[2] + size];
    } else found.push([begin, start, size]);
  }
  return found;
}

function matching(before: readonly string[], places: ReadonlyMap<string, number[]>, low: number, high: number, from: number, to: number): Block[] {
  const found: Block[] = [];
  const ahead: Stretch[] = [[low, high, from, to]];
  for (let next = ahead.pop(); next; next = ahead.pop()) {
    const [first, last, begin, end] = next;
    const [one, other, size] = longest(before, places, next);
    if (size === 0) continue;
    found.push([one, other, size]);
    if (first < one && begin < other) ahead.push([first, one, begin, other]);
    if (one + size < last && other + size < end) ahead.push([one + size, last, other + size, end]);
  }
  return found.sort(([one, other], [first, second]) => one - first || other - second);
}

/** The longest stretch that both share; of those alike the first. */
function longest(before: readonly string[], places: ReadonlyMap<string, number[]>, [low, high, from, to]: Stretch): Block {
  let best: Block = [low, from, 0];
  let lengths = new Map<number, number>();
  for (let one = low; one < high; one += 1) {
    const next = new Map<number, number>();
    for (const other of places.get(before[one] ?? "") ?? []) {
      if (other < from) continue;
      if (other >= to) break;
      const length = (lengths.get(other - 1) ?? 0) + 1;
      next.set(other, length);
      if (length > best[2]) best = [one - length + 1, other - length + 1, length];
    }
    lengths = next;
  }
  return best;
}
