import { resolve } from 'node:path';
import { compose } from '../../compose.ts';
import type { Admission, RunToAdmit } from '../../engine.ts';
import type { RunEnd, RunningRun } from '../../read-model/running-run.ts';
import { refuseFullAsRoot } from '../../model/access.ts';
import { SquadError } from '../../model/errors.ts';
import type { FailureKind } from '../../model/failure.ts';
import { TURN } from '../../model/playbook-name.ts';
import type { RunEvent } from '../../model/run-event.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import { describeRuntimes, refuseUnregistered } from '../../preflight/runtimes.ts';
import { turnDefinition, withRuntime } from '../../preflight/turn-definition.ts';
import { turnRuntime } from '../../preflight/turn-runtime.ts';
import { findRun, isOver } from '../../read-model/read-run.ts';
import { uuid7 } from '../../substrate/clock/ids.ts';
import { inspectRepository } from '../../substrate/git/inspect-repository.ts';
import { hasLedger } from '../../substrate/ledger/index.ts';
import type { RunRow } from '../../substrate/ports/ledger.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, DevTurnOptions } from '../command-context.ts';
import { trustOf } from '../consent.ts';
import { consentOf } from '../../squad/new-run.ts';
import { openWorkspace, readLedger } from '../../squad/open-run.ts';
import { recordRun, requireConsent } from '../../squad/run-consent.ts';
import { isTurnEvent } from '../../read-model/turn-sentence.ts';
import { renderEvent, renderResult } from '../render/turn-lines.ts';
import { readTurnSpec } from '../turn-input.ts';
import { untilEnd } from './show-run.ts';

/** Longer than the first pauses after a lost turn, shorter than any usage limit. */
const PATIENCE_MS = 45_000;

/**
 * A run of one task that shows its turn: exit 0 completed, 1 failed, 4 waiting for a reset, 130/143 interrupted. A usage
 * limit ends it. `squad resume` continues it like any run.
 */
export async function devTurn(
  context: CommandContext,
  prompt: string | undefined,
  options: DevTurnOptions,
): Promise<void> {
  const { host, output } = context;
  const composition = compose(host);
  const here = { ...context, host: { ...host, workingDirectory: resolve(host.workingDirectory, options.repo) } };
  const show = showTurn(here, options.json === true);
  const drive = { ...composition, host, patienceMs: PATIENCE_MS, onEvent: show.onEvent };
  const workspace = await openWorkspace(here);
  const loading = import('../../engine.ts');
  if (options.resume !== undefined && options.resume !== false) {
    const runId = await unfinishedTurn(here, options.resume === true ? undefined : options.resume);
    const ports = { ...drive, admit: async (run: RunToAdmit) => plays(requireConsent(workspace, run, {})) };
    return show.follow(await (await loading).resumeRun(ports, here.host.workingDirectory, runId));
  }
  refuseUnregistered(composition.runtimes, options.runtime);
  refuseFullAsRoot({ level: options.access }, host.isRoot, 'Use `--access edit`');
  const repository = await inspectRepository(composition.git, here.host.workingDirectory);
  for (const { about, text, next } of repository.warnings) {
    // The machine is the doctor's subject, not every turn's.
    if (about !== 'git-version') output.problem(plainLine(`note: ${text}${next === undefined ? '' : ` ${next}`}`, 800));
  }
  const name = `turn-${uuid7(composition.clock.now()).slice(-12)}`;
  const trust = trustOf(context, options);
  const asking = { ...composition, host, ...consentOf(trust) };
  const named = await turnRuntime(asking, options.runtime, { repository, yes: trust === 'yes' });
  const spec = withRuntime(await readTurnSpec(prompt, options, host.workingDirectory), named);
  const redactor = composition.redactor(spec.env);
  const described = describeRuntimes(composition, { [spec.runtime]: named ?? { env: [] } });
  const definition = turnDefinition(name, spec, repository, redactor, described);
  const ports = { ...drive, admit: async (run: RunToAdmit) => plays(recordRun(workspace, run)) };
  return show.follow(await (await loading).startRun(ports, definition, repository));
}

async function plays(agreed: Promise<void>): Promise<Admission> {
  await agreed;
  return 'plays';
}

/** The newest turn's run that is not over, or that of the attempt. Throws `unknown-attempt` where there is none. */
async function unfinishedTurn(context: CommandContext, attemptId: string | undefined): Promise<string> {
  const workspace = await openWorkspace(context);
  if (!hasLedger(workspace.directory)) throw noUnfinishedTurn(attemptId);
  const found = readLedger(workspace, (ledger) => {
    const named = attemptId === undefined ? undefined : ledger.attempt(attemptId)?.runId;
    const runs = ledger.runs().filter(({ id }) => attemptId === undefined || id === named);
    const isUnfinished = ({ id }: RunRow): boolean => {
      const run = findRun(ledger, id, null);
      return run?.definition.playbook === TURN && !isOver(run);
    };
    return runs.findLast(isUnfinished)?.id;
  });
  if (found === undefined) throw noUnfinishedTurn(attemptId);
  return found;
}

function noUnfinishedTurn(attemptId: string | undefined): SquadError {
  const named = `no unfinished turn is called ${attemptId ?? ''}`;
  const message = attemptId === undefined ? 'no turn of this repository is unfinished' : named;
  return new SquadError({ code: 'unknown-attempt', message, next: 'Run `squad log` to see what happened here.' });
}

/** Prints the turn's events as they come, and its result at the end. */
function showTurn(context: CommandContext, json: boolean) {
  const { output, exit } = context;
  return {
    onEvent: (event: RunEvent): void => {
      if (event.type === 'warning') output.problem(plainLine(`note: ${event.text}`, 800));
      if (event.type !== 'attempt-taken' && !isTurnEvent(event)) return;
      if (json) return output.json(event);
      const line = event.type === 'attempt-taken' ? `attempt   ${event.attemptId} ${event.how}` : renderEvent(event);
      if (line !== undefined) output.line(line);
    },
    follow: async (running: RunningRun): Promise<void> => {
      await untilEnd(output, running, { name: 'the turn' }, async (end, signal) =>
        exit(await printEnd(context, end, json, signal)),
      );
    },
  };
}

/** Returns the exit code. */
async function printEnd(
  context: CommandContext,
  end: RunEnd,
  json: boolean,
  signal: NodeJS.Signals | undefined,
): Promise<number> {
  const { output } = context;
  const { runId, branch, head, headline } = end;
  const last = readLedger(await openWorkspace(context), (ledger) => {
    const attempt = ledger.attempts({ runId }).findLast(({ kind }) => kind === 'turn');
    const result = attempt === undefined ? undefined : ledger.settlement(attempt.id)?.result;
    return attempt === undefined || result === undefined ? undefined : { attemptId: attempt.id, result };
  });
  if (last === undefined) {
    output.problem(plainLine(headline, 800));
    return end.exitCode;
  }
  const { attemptId, result } = last;
  if (json) output.json({ type: 'turn-ended', at: Date.now(), runId, attemptId, branch, head, ...result });
  else {
    output.line(renderResult(result));
    output.line(`  branch    ${branch}${head === undefined ? '' : ` at ${head.slice(0, 12)}`}`);
    if (end.outcome !== 'done') output.line(`  run       ${plainLine(headline, 800)}`);
  }
  if (result.outcome === 'completed') return end.outcome === 'failed' || end.outcome === 'cancelled' ? end.exitCode : 0;
  return exitCodeOfTurn(result, signal);
}

/** Exit 4: a limit was reached, or the account waits for its reset; the work can continue later. */
const STOPPED_AT_A_LIMIT: ReadonlySet<FailureKind> = new Set([
  'quota-exhausted',
  'rate-limited',
  'wall-timeout',
  'step-limit',
  'cost-limit',
]);

function exitCodeOfTurn({ outcome, failure }: TurnResult, signal: NodeJS.Signals | undefined): number {
  if (signal !== undefined && outcome === 'cancelled') return signal === 'SIGINT' ? 130 : 143;
  return failure !== undefined && STOPPED_AT_A_LIMIT.has(failure.kind) ? 4 : 1;
}
