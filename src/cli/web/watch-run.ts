import { letThroughBy } from '../../model/let-through.ts';
import type { RunEvent } from '../../model/run-event.ts';
import { followRun } from '../../squad/follow-run.ts';
import { followTeamOf } from '../../squad/team/team-of-run.ts';
import type { OpenedWorkspace } from '../../squad/open-workspace.ts';
import { openLedger } from '../../substrate/ledger/index.ts';
import { EMPTY_BOARD } from '../board/board-state.ts';
import { takeEvent } from '../board/view.ts';
import type { Watched } from './feed.ts';
import { type KnownWorks, readFacts, type RunFacts } from './run-facts.ts';
import { liveRegions, runPage, settledRegions } from './run-page.ts';
import type { Region } from './page.ts';

/** Without a change, so often: times go on, and an engine that was killed writes nothing. */
const AGAIN_MS = 5_000;
/** So many times as long as it took to read a run, it is not read again. */
const REST = 4;

/** Follows one run for its pages, which cost the engine nothing: it reads what the engine has written. */
export async function watchRun(workspace: OpenedWorkspace, runId: string): Promise<Watched> {
  const { composition, directory } = workspace;
  const { clock } = composition;
  const known: KnownWorks = new Map();
  let facts: RunFacts = await readFacts(workspace, runId, known);
  const ledger = openLedger(directory, { clock, readOnly: true });
  const team = await followTeamOf(ledger, { run: runId, playbook: facts.view.run.playbook });
  facts = { ...facts, team: team?.() };
  const redactor = composition.redactor(letThroughBy(facts.reading.definition));
  let board = EMPTY_BOARD;
  let isNew = true;
  let isAsked = false;
  const followed = followRun({ ledger, composition, redactor, directory }, runId, undefined, (event: RunEvent) => {
    board = takeEvent(board, event);
    isNew = true;
    // A question of an agent in the middle of its turn is in no ledger.
    if (event.type === 'notice' && event['asks'] === true) isAsked = true;
  });
  let settled: readonly Region[] = settledRegions(facts);
  let version: number | undefined;
  let readAt = 0;
  let restUntil = 0;
  const readAgain = async (): Promise<void> => {
    const now = clock.monotonic();
    const changed = ledger.dataVersion();
    const isDue = changed !== version || isAsked || now - readAt >= AGAIN_MS;
    if (!isDue || now < restUntil) return;
    [version, isAsked, readAt] = [changed, false, now];
    facts = { ...(await readFacts(workspace, runId, known)), team: team?.() };
    settled = settledRegions(facts);
    restUntil = clock.monotonic() + (clock.monotonic() - now) * REST;
    isNew = true;
  };
  return {
    look: async () => {
      await followed.look();
      await readAgain();
      if (!isNew) return undefined;
      isNew = false;
      return runPage(facts, settled, liveRegions(board, facts));
    },
    close: async () => {
      await followed.close();
      ledger.close();
    },
  };
}
