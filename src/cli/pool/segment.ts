import { createInterface } from 'node:readline';
import { openMachine } from '../../engine/machine.ts';
import { badInput } from '../../model/errors.ts';
import { watchLease } from '../../squad/pool/lease-watch.ts';
import { orderSchema, workerLineSchema } from '../../squad/pool/segment-lines.ts';
import { runSegment } from '../../squad/pool/segment.ts';
import { parseJson } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext } from '../command-context.ts';
import { withPool } from './with-pool.ts';

/** Works on the run that the worker names on standard input, and hands it on when that ends. */
export async function segment(context: CommandContext): Promise<void> {
  const { host, output } = context;
  const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const [draining, leaving] = [new AbortController(), new AbortController()];
  // The worker gets signals too, and says what follows; alone, this process ends well.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => leaving.abort());
  const first = await input.next();
  const order = orderSchema.safeParse(parseJson(String(first.value))).data;
  if (order === undefined)
    throw badInput('no worker has named a run', 'Start `squad worker`, which starts this itself.');
  const lease = watchLease(openMachine(host), order.leaseMs);
  void (async () => {
    for (;;) {
      const { value, done } = await input.next();
      if (done === true) return leaving.abort();
      const line = workerLineSchema.safeParse(parseJson(value)).data;
      if (line?.type === 'kept') lease.kept(line.ms);
      if (line?.type === 'lost') lease.lose();
      if (line?.type === 'drain') draining.abort();
      if (line?.type === 'leave') leaving.abort();
    }
  })();
  await withPool(context, {}, async ({ store }) =>
    runSegment({
      ...{ host, store, claim: order.claim, repos: order.repos, lease },
      ...{ draining: draining.signal, leaving: leaving.signal },
      say: (text) => output.line(plainLine(text, 600)),
    }),
  );
  process.stdin.destroy();
  context.leave?.();
}
