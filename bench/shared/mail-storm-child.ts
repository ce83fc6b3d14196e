// A program of its own, started by `bench/mailbox.ts`: one member who sends five messages a second for a while, each to the
// next. Arguments: folder, own number, members, ms. Says that it is ready, waits for a word on stdin, and prints one JSON
// object: what each send took, and what was refused.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLedger } from '../../src/substrate/ledger/index.ts';

const MEAN_PAUSE_MS = 200;

const [folder = '', own = '0', members = '1', duration = '0'] = process.argv.slice(2);
const ledger = openLedger(folder, { clock: { now: () => Date.now() } });
const party = { by: 'person', runId: 'bench', address: `m-${own}`, name: 'bench' } as const;
const waits: number[] = [];
const errors: string[] = [];
// One before the clock runs: what a process pays for its first is the start's, not the message's.
ledger.mail.send(party, { to: [`m-${(Number(own) + 1) % Number(members)}`], type: 'send', body: '{"text":"first"}' });
process.stdout.write('ready\n');
await once(process.stdin, 'data');
process.stdin.destroy();
const end = performance.now() + Number(duration);
for (let number = 0; performance.now() < end; number += 1) {
  const to = [`m-${(Number(own) + 1 + (number % (Number(members) - 1))) % Number(members)}`];
  const from = performance.now();
  try {
    const answer = ledger.mail.send(party, { to, type: 'send', body: JSON.stringify({ text: String(number) }) });
    if (!answer.sent) errors.push(answer.refusal.rule);
  } catch (error) {
    errors.push(String(error));
  }
  waits.push(performance.now() - from);
  await sleep(Math.random() * 2 * MEAN_PAUSE_MS);
}
ledger.close();
process.stdout.write(`${JSON.stringify({ waits, errors })}\n`);
