import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import { teachRowDigest } from '../../src/substrate/ledger/row-digest.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { thirteen } from './objective-script.ts';
import { stateOf } from '../support/state.ts';

/** Takes the list out of the run's definition: what an earlier version wrote. */
function forgetStages({ repository }: RunBench): void {
  const db = new Database(ledgerPath(stateOf(repository)));
  teachRowDigest(db);
  const trigger = String(db.prepare("SELECT sql FROM sqlite_schema WHERE name = 'event_never_changes'").pluck().get());
  db.transaction(() => {
    db.exec('DROP TRIGGER event_never_changes');
    const { changes } = db
      .prepare("UPDATE event SET data = json_set(data, '$.options', json('{}')) WHERE type = 'run-defined'")
      .run();
    expect(changes).toBe(1);
    db.exec('UPDATE event SET seal = row_digest(seq, stream, type, at, cause, epoch, data)');
    db.exec(trigger);
  })();
  db.close();
}

it('a run that an earlier version began is not resumed, and can still be looked at and cleaned', async (test) => {
  const bench = openRunBench({
    settings: { playbook: 'objective', limits: { turns: 2 } },
    script: thirteen([], [{ id: 'left', paths: ['left.txt'] }]),
  });
  test.onTestFinished(() => bench.end());
  expect((await bench.runAll()).code).toBe(4);
  forgetStages(bench);
  const resumed = await bench.run(['resume', '--yes', '--max-turns', '50']);
  expect(resumed.code).toBe(78);
  expect(resumed.stderr).toMatch(/run make-things began in an earlier version of squad, with stages that this/);
  expect(resumed.stderr).toMatch(/^Next: Finish it in that version, or start the objective again: `squad run /m);
  for (const command of [['status'], ['status', '--json'], ['report'], ['log'], ['runs'], ['clean', '--all']]) {
    const { code, stderr } = await bench.run(command);
    expect([command.join(' '), code, stderr]).toEqual([command.join(' '), 0, '']);
  }
}, 120_000);
