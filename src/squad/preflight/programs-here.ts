import type { Composition, Host } from '../../engine/compose.ts';
import { PROGRAMS, type ProgramKind } from '../../model/programs.ts';
import type { AgentSettings, Settings } from '../../model/settings.ts';
import { commandsOf } from '../../playbooks/stages/list-facts.ts';
import type { Probe } from '../../runtimes/port/agent-runtime.ts';
import { findProgram } from '../../runtimes/shared/find-program.ts';
import { shellWord } from '../../text/shell-word.ts';
import { listIn } from './list-choice.ts';
import { lineOf } from './read-input.ts';
import type { SettingsFile, SettingsRead } from './read-settings.ts';
import { describeRuntimes } from '../../engine/runtime-choice.ts';
import { createProbes, resolveRuntimes } from './runtimes.ts';
import { hasConsent } from './consent.ts';
import type { TrustedPlace } from './trust-store.ts';
import { itemsToTrust } from './trust.ts';

/** A program that squad would start here. */
export interface ProgramHere {
  readonly kind: ProgramKind;
  /** The command as it is written, or the program’s name. */
  readonly run: string;
  /** Where it is; null: not found, or a line for a shell, which looks up its words itself. */
  readonly path: string | null;
  readonly when: string;
  /** The setting that names it: `squad.yaml:4`. null: squad itself, or a variable of the person. */
  readonly from: string | null;
  readonly reads: string;
  readonly confinement: 'sandbox' | 'rules' | 'cage' | 'settings' | 'none';
  readonly confinedBy: string;
  /** Whether a person has agreed to it; `own`: it stands in their own file or environment, so squad does not ask. */
  readonly consent: 'stored' | 'missing' | 'own' | 'not needed';
}

export interface ProgramsHere {
  readonly repository: string;
  /** Consent to all items of the repository's settings. An objective can add commands, which are not covered. */
  readonly consent: ProgramHere['consent'];
  readonly programs: readonly ProgramHere[];
}

interface Place {
  readonly composition: Composition;
  readonly host: Host;
  readonly repository: TrustedPlace;
  readonly read: SettingsRead;
}

/** Every program that squad would start in this repository. It starts none that the repository names. */
export async function programsHere(place: Place): Promise<ProgramsHere> {
  const { composition, host, repository, read } = place;
  const described = describeRuntimes(composition, read.settings.runtimes);
  const items = itemsToTrust(read.repository.settings, { file: '', criteria: [] }, read.repository, described);
  const agreed = await hasConsent(items, { host }, repository);
  const consent = items.length === 0 ? 'not needed' : agreed ? 'stored' : 'missing';
  const about = (key: string): Named => {
    const source = fileWith(read, key);
    return { source, key, consent: source === read.own ? 'own' : consent };
  };
  const named = namedBySettings(read.settings, about);
  const agents = await agentsHere(place, about);
  const found = await Promise.all(
    [...ownPrograms(host), ...named].map(async (one) => ({ ...one, path: await located(one, host) })),
  );
  return { repository: repository.root, consent, programs: [...found, ...agents] };
}

interface Named {
  readonly source: SettingsFile;
  readonly key: string;
  readonly consent: ProgramHere['consent'];
}

/** The file that sets this key; the repository's wins. */
function fileWith({ repository, own }: SettingsRead, key: string): SettingsFile {
  return own !== undefined && Object.hasOwn(own.raw, key) && !Object.hasOwn(repository.raw, key) ? own : repository;
}

type Unlocated = Omit<ProgramHere, 'path'> & { readonly search?: string };

const FREE: readonly ProgramKind[] = (Object.keys(PROGRAMS) as ProgramKind[]).filter(
  (kind) => 'isFree' in PROGRAMS[kind],
);

function program(kind: ProgramKind, run: string, more: Partial<Unlocated> = {}): Unlocated {
  const { when, reads, confinedBy } = PROGRAMS[kind];
  const confinement = FREE.includes(kind) ? 'none' : 'settings';
  return { kind, run, when, reads, confinement, confinedBy, from: null, consent: 'not needed', ...more };
}

/** Those that squad starts in any repository. */
function ownPrograms({ node, environment, platform }: Host): Unlocated[] {
  const own = { consent: 'own' as const };
  const pager = (environment['PAGER'] ?? 'less').trim() || 'less';
  const editor = [environment['VISUAL'], environment['EDITOR']].find((one) => one?.trim()) ?? 'vi';
  const first = (line: string): string => line.trim().split(/\s+/)[0] ?? '';
  return [
    program('git-checkout', 'git', { search: 'git' }),
    program('git-store', 'git', { search: 'git' }),
    program('squad', 'node', { search: node }),
    program('helper-host', 'node', { search: node }),
    program('turn-wrapper', 'sh', { search: '/bin/sh' }),
    ...(platform === 'linux' ? [program('namespace', 'unshare', { search: '/usr/bin/unshare' })] : []),
    ...(platform === 'linux' ? [program('cage-trial', 'bwrap', { search: 'bwrap' })] : []),
    ...(platform === 'darwin' ? [program('cage-trial', 'sandbox-exec', { search: '/usr/bin/sandbox-exec' })] : []),
    program('pager', pager, { ...own, search: first(pager) }),
    program('editor', editor, { ...own, search: first(editor) }),
    program('terminal', 'tmux', { search: 'tmux' }),
  ];
}

function namedBySettings(settings: Settings, about: (key: string) => Named): Unlocated[] {
  const of = (kind: ProgramKind, key: string, run: string, more: Partial<Unlocated> = {}): Unlocated => {
    const { source, consent } = about(key);
    return program(kind, run, {
      from: `${source.file}:${lineOf(source.text, key)}`,
      consent,
      ...more,
    });
  };
  const { setup, verify, notify, publish, agents = [] } = settings;
  return [
    ...setup.map(({ run }) => of('check', 'setup', run, { when: 'setup of each folder of a task' })),
    ...verify.map(({ run }) => of('check', 'verify', run, { when: 'verification of what is to be delivered' })),
    ...commandsOf(listIn(settings)).map((run) => of('check', 'playbook', run, { when: 'a stage of the list' })),
    ...(notify === undefined ? [] : [of('notify', 'notify', notify)]),
    ...(publish === undefined
      ? []
      : [
          of('git-publish', 'publish', `git push ${publish.remote}`, { search: 'git' }),
          of('git-login', 'publish', 'ssh, or a credential helper'),
        ]),
    ...(publish?.pr === true ? [of('gh', 'publish', 'gh', { search: 'gh' })] : []),
    ...agents.flatMap((agent) => equipment(agent).map(([kind, run, search]) => of(kind, 'agents', run, search))),
  ];
}

function equipment({ name, mcp = [], hooks = [] }: AgentSettings): [ProgramKind, string, Partial<Unlocated>][] {
  return [
    ...mcp.flatMap(({ name: server, command, args = [] }): [ProgramKind, string, Partial<Unlocated>][] =>
      command === undefined
        ? []
        : [
            [
              'mcp-server',
              [command, ...args].map(shellWord).join(' '),
              { when: `turns of ${name}: ${server}`, search: command },
            ],
          ],
    ),
    ...hooks.map(({ on, run }): [ProgramKind, string, Partial<Unlocated>] => [
      'hook',
      run,
      { when: `${on} of ${name}` },
    ]),
  ];
}

async function located({ search }: Unlocated, { environment }: Host): Promise<string | null> {
  if (search === undefined) return null;
  return search.includes('/') ? search : ((await findProgram(environment['PATH'], search)) ?? null);
}

/** The programs of the agents in the roster, or of all runtimes that could be in one. */
async function agentsHere(place: Place, about: (key: string) => Named): Promise<ProgramHere[]> {
  const { composition, host, repository, read } = place;
  const { agents, runtimes } = read.settings;
  const described = describeRuntimes(composition, runtimes);
  const names =
    agents === undefined
      ? Object.keys(described).filter((name) => described[name]?.onlyByName !== true)
      : [...new Set(agents.map(({ runtime }) => runtime))];
  const resolved = await resolveRuntimes(runtimes, described, repository.root, host);
  const probeOf = createProbes(composition, resolved);
  const found = names.map(async (name): Promise<ProgramHere[]> => {
    const { source, consent } = about('runtimes');
    const isNamed = runtimes[name]?.command !== undefined && runtimes[name].command !== name;
    // A program that the repository names starts after a consent only, not even to say what confines it.
    const isStrange = isNamed && source === read.repository && consent !== 'stored';
    const probe = isStrange ? undefined : await probeOf(name);
    if (agents === undefined && probe?.binary === undefined) return [];
    const users = (agents ?? []).filter(({ runtime }) => runtime === name);
    const one = program(name.startsWith('acp/') ? 'acp-agent' : 'agent', name, {
      from: isNamed ? `${source.file}:${lineOf(source.text, 'runtimes')}` : null,
      consent: isNamed ? consent : 'not needed',
      when: users.length === 0 ? 'turns' : `turns of ${users.map(({ name: agent }) => agent).join(', ')}`,
      ...confinementOf(probe, users),
    });
    return [{ ...one, path: probe?.binary ?? resolved[name]?.command ?? null }];
  });
  return (await Promise.all(found)).flat();
}

function confinementOf(
  probe: Probe | undefined,
  users: readonly AgentSettings[],
): Pick<ProgramHere, 'confinement' | 'confinedBy'> {
  const free = users.filter(({ access }) => access === 'full').map(({ name }) => name);
  if (free.length > 0) return { confinement: 'none', confinedBy: `nothing: access: full of ${free.join(', ')}` };
  if (probe === undefined) return { confinement: 'none', confinedBy: 'not known before you agree to it' };
  if (probe.binary === undefined) return { confinement: 'none', confinedBy: 'it is not installed here' };
  switch (probe.sandbox) {
    case 'os':
      return { confinement: 'sandbox', confinedBy: 'a sandbox of the system around each turn' };
    case 'rules':
      return { confinement: 'rules', confinedBy: 'its own rules only; no sandbox of the system works here' };
    default:
      return { confinement: 'none', confinedBy: probe.problems[0]?.text ?? 'nothing' };
  }
}
