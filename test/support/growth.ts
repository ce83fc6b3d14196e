/** Too short to tell growth from chance: the clock of a thread ticks in milliseconds. What takes this long is no danger. */
const NOISE_MS = 25;
const SAMPLES = 2;
const MOST_SAMPLES = 12;

/**
 * How many times as long `read` takes for twice the input: about 2 where time grows with size, 4 where it grows with its
 * square. Compares the least of several samples, and takes more of them while the result is `bound` or above.
 */
export function growth(read: (size: number) => void, size: number, bound = 3): number {
  let once = Infinity;
  let twice = Infinity;
  for (let sample = 0; sample < MOST_SAMPLES; sample += 1) {
    twice = Math.min(
      twice,
      threadMs(() => read(2 * size)),
    );
    if (twice < NOISE_MS) return 1;
    once = Math.min(
      once,
      threadMs(() => read(size)),
    );
    if (sample + 1 >= SAMPLES && twice / once < bound) break;
  }
  return twice / once;
}

/** Processor time of this thread alone: other threads and a busy machine change nothing about it. */
export function threadMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
