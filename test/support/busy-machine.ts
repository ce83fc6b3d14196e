import { availableParallelism, loadavg } from 'node:os';

/**
 * So many ms as a bar allows, and up to four times as many on a machine that has much more to do than it has processors:
 * there seconds say nothing about squad.
 */
export function allowedMs(bar: number): number {
  const [lastMinute = 0] = loadavg();
  return bar * Math.min(4, Math.max(1, lastMinute / availableParallelism() / 1.5));
}
