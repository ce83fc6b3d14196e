import { expect, it } from 'vitest';
import { stateOf } from '../support/state.ts';
import { failed } from '../playbooks/simulator.ts';
import { definition, play, RecordedRun } from '../view/report/support.ts';
import { commandRoom } from './room.ts';

it.each(['sprint', 'plan-requests'])('a run of %s is neither forked nor opened again', async (playbook) => {
  const room = commandRoom();
  await room.run(['request', 'something']);
  const about = { ...definition(), playbook };
  const script = { turn: ({ task }: { task: string }) => (task === 'a' ? failed('bad-request') : undefined) };
  const played = play(definition(), script);
  const run = new RecordedRun(about, stateOf(room.repository)).allocate().plan(played.entries);
  run.decide('finish', played.end.why).publish();
  run.ledger.releaseLease(run.lease);
  run.close();
  const forked = await room.run(['fork', 'tidy']);
  expect([forked.code, forked.stderr]).toEqual([65, expect.stringContaining('tidy is a run of the team')]);
  for (const args of [
    ['retry', 'a', '--run', 'tidy'],
    ['override', 'a', 'done', '--run', 'tidy', '--reason', 'I read it'],
  ]) {
    const again = await room.run(args);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('tidy is a run of the team, and over')]);
  }
});
