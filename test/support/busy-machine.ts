import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';

/**
 * So many ms as a bar allows, and up to six times as many on a machine that has much more to do than it has processors:
 * there seconds say nothing about squad.
 */
export function allowedMs(bar: number): number {
  const [lastMinute = 0] = loadavg();
  const pressure = Math.max(lastMinute, runningNow()) / availableParallelism();
  return bar * Math.min(6, Math.max(1, pressure));
}

/** Threads that run or wait for a processor at this moment; 0 where the system does not say. */
function runningNow(): number {
  try {
    return Number(/ (\d+)\//.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
