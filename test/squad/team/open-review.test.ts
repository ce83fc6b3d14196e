import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { KINDS } from '../../../src/model/sprint/kinds.ts';
import { RUN_EVENTS } from '../../../src/model/run.ts';
import { bindWorkspace, openWorkspace } from '../../../src/squad/open-workspace.ts';
import { openReview } from '../../../src/squad/team/plan-requests.ts';
import { lookAtTeam } from '../../../src/squad/team/read-team.ts';
import { holderHere, lockWorkspace, openLedger } from '../../../src/substrate/ledger/index.ts';
import { createRepository } from '../../support/git.ts';
import { testHost } from '../../support/test-host.ts';

const request = (text: string) => ({ text, by: 'kim', at: 1, fingerprint: text, attachments: [], joined: [] });

async function roomWith(...ids: string[]) {
  const root = mkdtempSync(join(tmpdir(), 'squad-review-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const repository = createRepository(join(root, 'repository'));
  const workspace = bindWorkspace(await openWorkspace({ host: testHost(root, { workingDirectory: repository }) }));
  const { directory, composition } = workspace;
  const within = (work: (ledger: ReturnType<typeof openLedger>) => void): void => {
    const lock = lockWorkspace(directory, holderHere(process.pid, composition.clock.now()));
    const ledger = openLedger(directory, { ...composition, lock });
    work(ledger);
    ledger.close();
    lock.release();
  };
  within((ledger) => {
    for (const id of ids) ledger.writeRecord({ kind: KINDS.request, id, value: request(id) });
  });
  const end = (run: string): void =>
    within((ledger) => {
      ledger.createRun({ id: run, name: 'plan' });
      const lease = ledger.acquireLease(run, 'test');
      ledger.append(run, RUN_EVENTS.ended, { outcome: 'done' });
      ledger.releaseLease(lease);
    });
  return { workspace, end };
}

it('opens no second look of the planner while one is not over: two at once could write the same item', async () => {
  const { workspace, end } = await roomWith('r-1', 'r-2');
  const states = () => {
    const { team, runState } = lookAtTeam(workspace);
    return [...team.review.values()].map(({ run, requests }) => [...requests, runState(run)]);
  };
  await openReview(workspace, { requests: ['r-1'], findings: [] });
  // Decided by another process, which had not seen the first.
  await openReview(workspace, { requests: ['r-2'], findings: [] });
  expect(states()).toEqual([['r-1', 'absent']]);
  end([...lookAtTeam(workspace).team.review.values()][0]?.run ?? '');
  await openReview(workspace, { requests: ['r-2'], findings: [] });
  expect(states()).toEqual([
    ['r-1', 'over'],
    ['r-2', 'absent'],
  ]);
});
