import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { openMachine, type Machine } from '../../engine/machine.ts';
import { badInput } from '../../model/errors.ts';
import { redactorOf } from '../../model/redaction/redactor.ts';
import { bindWorkspace, lookIn, openWorkspace, type OpenedWorkspace } from '../../squad/open-workspace.ts';
import { readSchedules } from '../../squad/preflight/read-schedules.ts';
import { namesSection } from '../../squad/preflight/read-settings-text.ts';
import { unagreedSchedules } from '../../squad/service/agreed-schedules.ts';
import { runService } from '../../squad/service/run-service.ts';
import { lockService, refuseSecondService, serviceFolder } from '../../squad/service/service-lock.ts';
import { holderHere } from '../../substrate/ledger/index.ts';
import { insideTurn, readProcess } from '../../substrate/system/process/process-table.ts';
import { runInTerminal } from '../../substrate/system/process/run-in-terminal.ts';
import { startDetached, type DetachedProgram } from '../../substrate/system/process/start-detached.ts';
import { defined } from '../../text/defined.ts';
import { plainLine } from '../../text/plain-text.ts';
import { clockTime } from '../../text/time.ts';
import { ownProgram, type CommandContext, type Options } from '../command-context.ts';

const SLOT_MS = 900_000;
const LIMITS_MS = 60_000;
const LOOK_MS = 100;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Serves this repository until a signal. Its runs outlive it: their engine is a process of its own. */
export async function serve(context: CommandContext, options: Options<'serve'>): Promise<void> {
  const { host, exit } = context;
  if (insideTurn(host.environment, host.pid))
    throw badInput('not_authorized: a turn cannot start the service', 'Leave it to the person who started the run.');
  const opened = await openWorkspace({ host, composition: openMachine(host) });
  if (options.unit === true) return (await import('./serve-unit.ts')).serveUnit(context, opened.repository.root);
  refuseSecondService(opened.directory, opened.composition.clock.now());
  // Throws for a ledger that this version cannot read: nothing is started then.
  lookIn(opened, () => undefined);
  const refusal = options.background === true ? undefined : await askFirst(context, opened, options);
  if (refusal !== undefined) return exit(refusal);
  const workspace = bindWorkspace(opened);
  if (options.detach === true) return (await import('./serve-detach.ts')).serveDetach(context, workspace, options);
  const holder = holderHere(host.pid, workspace.composition.clock.now());
  const lock = lockService(workspace.directory, {
    ...holder,
    ...defined({ startTime: readProcess(host.pid)?.startTime }),
  });
  try {
    await serveHere(context, workspace, options.background === true);
  } finally {
    lock.release();
  }
}

/** Throws for schedules that are none. At a terminal a person agrees to them; the exit code if they do not. */
async function askFirst(
  { host, output }: CommandContext,
  workspace: OpenedWorkspace<Machine>,
  { yes, json }: Options<'serve'>,
): Promise<number | undefined> {
  const read = await readSchedules(workspace.repository.root);
  const unagreed = await unagreedSchedules(workspace, read);
  const silent = await channelsToAgree(workspace, read.source.text);
  const intake = await intakeToAgree(workspace, read.source.text);
  if (unagreed.length === 0 && silent.length === 0 && !intake) return undefined;
  if (yes !== true && (!process.stdin.isTTY || json === true)) {
    const what = [
      ...(unagreed.length === 0 ? [] : [`No person has agreed to ${unagreed.join(', ')}, so their slots fail.`]),
      ...(silent.length === 0
        ? []
        : [`No person has agreed to ${silent.join(', ')}, so nothing is heard or said there.`]),
      ...(intake ? ['No person has agreed to what issues start, so none is taken.'] : []),
    ];
    output.problem(`${what.join(' ')} Read them and agree with \`squad serve check\`.`);
    return undefined;
  }
  // A process of its own: what checks a run is large, and the service stays small.
  const command = [...ownProgram(host), 'serve', 'check', ...(yes === true ? ['--yes'] : [])];
  const { code, problem } = await runInTerminal(command, { kind: 'squad', environment: host.environment });
  if (problem !== undefined) output.problem(problem);
  return code === 0 ? undefined : (code ?? 1);
}

/** Names of channels that no person has agreed to. Loads nothing of channels where there are none. */
async function channelsToAgree(workspace: OpenedWorkspace<Machine>, text: string): Promise<string[]> {
  if (!namesSection(text, 'channels')) return [];
  const { readChannels } = await import('../../squad/preflight/read-channels.ts');
  const { unagreedChannels } = await import('../../squad/people/agreed-channels.ts');
  return unagreedChannels(workspace, await readChannels(workspace.repository.root));
}

/** Whether no person has agreed to what issues start. Loads nothing of that where there is no such section. */
async function intakeToAgree(workspace: OpenedWorkspace<Machine>, text: string): Promise<boolean> {
  if (!namesSection(text, 'forge')) return false;
  const { readForge } = await import('../../squad/preflight/read-forge.ts');
  const { isForgeAgreed } = await import('../../squad/forge/agreed-forge.ts');
  return !(await isForgeAgreed(workspace, await readForge(workspace.repository.root)));
}

async function serveHere(
  { host, output }: CommandContext,
  workspace: OpenedWorkspace<Machine>,
  isBackground: boolean,
): Promise<void> {
  const { root } = workspace.repository;
  const { clock } = workspace.composition;
  const say = (text: string): void => output.line(`${clockTime(clock.now())}  ${plainLine(text, 700)}`);
  const log = isBackground ? await open(join(serviceFolder(workspace.directory), 'engine.log'), 'w', 0o600) : undefined;
  const child: { engine?: DetachedProgram | undefined } = {};
  const stop = listen((signal, isFirst) => {
    if (!isFirst) return;
    const engineToo = child.engine === undefined ? '' : ', and running turns are interrupted';
    say(`${signal}: nothing new starts${engineToo}. The next \`squad serve\` continues.`);
    // Not as Ctrl-C, after which a run waits for a person.
    child.engine?.signal('SIGTERM');
  });
  try {
    say(`squad serve works here (process ${host.pid}). Ctrl-C ends it.`);
    await runService({
      ...{ workspace, say, stopped: stop.stopped, redactor: redactorOf(host.environment, []) },
      startEngine: () => {
        const command = [...ownProgram(host), 'resume', '--all', '--plain'];
        const started = startDetached(command, { cwd: root, environment: host.environment, output: log?.fd ?? 1 });
        child.engine = started;
        void started.ended.then(() => void (child.engine = undefined));
        return started;
      },
      // By a process: the reader of all settings is large, and the service stays small.
      recordLimits: async () => firstWords(workspace, ['serve', 'limits'], LIMITS_MS),
      hostChannels: async (write) => {
        const { hostChannels } = await import('../../squad/people/host-channels.ts');
        await hostChannels({ workspace, write, say, stopped: stop.stopped });
      },
      settingsFiles: [join(root, 'squad.yaml'), join(host.configHome, 'squad', 'config.yaml')],
      stepTeam: async () => firstWords(workspace, ['serve', 'team'], SLOT_MS),
      submitSlot: async (schedule, slot) => {
        const words = await firstWords(workspace, ['serve', 'slot', schedule, new Date(slot).toISOString()], SLOT_MS);
        return words ?? 'its process ended without a word';
      },
    });
    // A promise alone would not keep this process alive.
    while (child.engine !== undefined) await clock.sleep(LOOK_MS);
    say('squad serve has ended. What waits in the queue stays there.');
  } finally {
    stop.close();
    await log?.close();
  }
}

/** The first line that a command of squad prints, or why it failed; undefined: it ended well and printed nothing. */
async function firstWords(
  { host, composition, repository }: OpenedWorkspace<Machine>,
  command: readonly string[],
  timeoutMs: number,
): Promise<string | undefined> {
  const [node = '', ...entry] = ownProgram(host);
  const env = defined(host.environment) as Record<string, string>;
  const place = { kind: 'squad', cwd: repository.root, env, timeoutMs } as const;
  const { stdout, stderr, code, problem } = await composition.processes.run(node, [...entry, ...command], place);
  const words = `${stdout}\n${stderr}`.split('\n').find((line) => line.trim() !== '');
  return problem ?? words ?? (code === 0 ? undefined : `its process ended with ${code ?? 'a signal'}`);
}

/** Turns signals into an abort, and gives each of them on. */
function listen(onSignal: (signal: (typeof SIGNALS)[number], isFirst: boolean) => void) {
  const controller = new AbortController();
  const hear = (signal: NodeJS.Signals): void => {
    const isFirst = !controller.signal.aborted;
    controller.abort();
    onSignal(signal as (typeof SIGNALS)[number], isFirst);
  };
  for (const signal of SIGNALS) process.on(signal, hear);
  return {
    stopped: controller.signal,
    close: (): void => {
      for (const signal of SIGNALS) process.off(signal, hear);
    },
  };
}
