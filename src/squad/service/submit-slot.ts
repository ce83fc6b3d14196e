import { runNotifyCommand } from '../../engine/checks/notify-command.ts';
import { errorText, isSquadError, SquadError } from '../../model/errors.ts';
import type { Schedule } from '../../model/schedule.ts';
import { slotKey, slotRunName } from '../../rules/service/decide-service.ts';
import { childEnvironment } from '../../runtimes/shared/child-environment.ts';
import { openRepository } from '../../substrate/git/repository.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { plainLine } from '../../text/plain-text.ts';
import { withLedger, type OpenedWorkspace } from '../open-workspace.ts';
import { hasConsent } from '../preflight/consent.ts';
import type { WrittenObjective } from '../preflight/read-input.ts';
import { readSettings, type SettingsRead } from '../preflight/read-settings.ts';
import { scheduleItems } from '../preflight/schedule-items.ts';
import { submit } from '../submit.ts';
import { recordLeft, recordRun, scheduleRecord } from './schedule-record.ts';

const FROM_MS = 600_000;
const BUSY = 75;

/** How a slot was settled, in words for people. */
export interface SettledSlot {
  readonly outcome: 'submitted' | 'skipped' | 'failed' | 'settled';
  readonly text: string;
}

/**
 * Settles one slot of a schedule: submits its run, or records why there is none. Safe to repeat: the same slot is one run. Throws only if
 * the repository is busy, or for a bug.
 */
export async function submitSlot(
  workspace: OpenedWorkspace,
  { name, slot }: { readonly name: string; readonly slot: number },
  readObjective: (given: string) => Promise<WrittenObjective>,
): Promise<SettledSlot> {
  const { composition, host, repository } = workspace;
  const record = await withLedger(workspace, 'write', (ledger) => scheduleRecord(ledger, name));
  if (record !== undefined && record.after >= slot) return { outcome: 'settled', text: 'its slot is settled already' };
  const left = async (outcome: 'skipped' | 'failed', why: string): Promise<SettledSlot> => {
    const at = composition.clock.now();
    await withLedger(workspace, 'write', (ledger) =>
      recordLeft(ledger, name, { slot, at, outcome, why }, composition.redactor([])),
    );
    return { outcome, text: `the slot is ${outcome}: ${plainLine(why, 500)}` };
  };
  let notify: string | undefined;
  try {
    const read = await readSettings(repository.root, composition, host);
    const schedule = read.settings.schedules?.find((one) => one.name === name);
    notify = read.own?.settings.notify;
    if (schedule === undefined) return await left('skipped', 'squad.yaml has no such schedule any more');
    await requireConsent(workspace, read, schedule);
    notify = read.settings.notify;
    const objective = await objectiveOf(workspace, schedule, readObjective);
    if (objective === undefined) return await left('skipped', 'its command printed no objective');
    const { head } = await openRepository(composition.git, repository.root);
    const options = { key: slotKey(name, slot), name: slotRunName(name, slot), playbook: schedule.playbook };
    const run = await submit({ host, composition }, objective, options);
    failpoint('slot.submitted');
    const at = composition.clock.now();
    await withLedger(workspace, 'write', (ledger) =>
      recordRun(ledger, name, { slot, at, run: run.runId, name: run.name, head }),
    );
    failpoint('slot.recorded');
    return { outcome: 'submitted', text: `${run.name} is queued` };
  } catch (error) {
    if (!isSquadError(error) || error.exitCode === BUSY) throw error;
    const why = [errorText(error), error.next ?? ''].join(' ').trim();
    const settled = await left('failed', why);
    if (notify === undefined) return settled;
    const about = { run: name, what: 'slot-failed', text: `${name} could not be started: ${why}` };
    const ports = { processes: composition.processes, environment: host.environment };
    const problem = await runNotifyCommand(ports, { command: notify, cwd: repository.root }, about);
    return problem === undefined ? settled : { ...settled, text: `${settled.text}; and notify failed: ${problem}` };
  }
}

async function requireConsent(
  { host, repository }: OpenedWorkspace,
  { repository: file }: SettingsRead,
  schedule: Schedule,
): Promise<void> {
  const index = (file.settings.schedules ?? []).findIndex(({ name }) => name === schedule.name);
  const items = scheduleItems(schedule, index, file, file.settings.notify);
  if (await hasConsent(items, { host }, repository)) return;
  throw new SquadError({
    code: 'not-trusted',
    message: 'you have not agreed to this schedule as it is now',
    next: 'Read it and agree with `squad serve check`.',
  });
}

/** undefined: there is nothing to do. */
async function objectiveOf(
  { composition: { processes }, host, repository }: OpenedWorkspace,
  { objective, from = '' }: Schedule,
  readObjective: (given: string) => Promise<WrittenObjective>,
): Promise<WrittenObjective | undefined> {
  if (objective !== undefined) return readObjective(objective);
  const { code, stdout, stderr, problem } = await processes.run('/bin/sh', ['-c', '--', from], {
    kind: 'schedule',
    cwd: repository.root,
    env: childEnvironment(host.environment, []),
    timeoutMs: FROM_MS,
  });
  if (problem !== undefined || code !== 0) {
    const why = problem ?? `it exited with ${code ?? 'a signal'}: ${plainLine(stderr, 300)}`;
    throw new SquadError({ code: 'bad-input', message: `the command of \`from\` failed: ${why}` });
  }
  return stdout.trim() === '' ? undefined : { text: stdout, from: 'the output of the command of `from`' };
}
