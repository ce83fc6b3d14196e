import type { Objective } from '../model/objective.ts';
import type { Settings } from '../model/settings.ts';
import { commandsToTrust, trustHash, type TrustedCommand } from '../settings/trust.ts';
import { SquadError } from '../model/errors.ts';
import { lineOf, SETTINGS_FILE } from './read-input.ts';
import { isTrusted, rememberTrust, type TrustStore } from './trust-store.ts';

/** Something that a person has to agree to before a run, as it is shown. */
export interface TrustItem {
  /** `agent`: what `squad.yaml` allows an agent beyond its own worktree. */
  readonly from: TrustedCommand['from'] | 'agent';
  readonly run: string;
  /** Where it is written: `objective.md:12`. */
  readonly where: string;
}

/** Everything that the repository and the objective bring along. */
export function itemsToTrust(
  settings: Settings,
  objective: Pick<Objective, 'file' | 'criteria'>,
  settingsText: string,
): TrustItem[] {
  const commands = commandsToTrust(settings, objective).map((command) => ({
    ...command,
    where: whereOf(command, objective, settingsText),
  }));
  return [...commands, ...grantsOf(settings)];
}

function whereOf(
  { from, run }: TrustedCommand,
  { file, criteria }: Pick<Objective, 'file' | 'criteria'>,
  settingsText: string,
): string {
  if (from === 'criterion') return `${file}:${criteria.find(({ command }) => command === run)?.line ?? 1}`;
  const key = from === 'runtime' ? 'runtimes' : from;
  return `${SETTINGS_FILE}:${lineOf(settingsText, new RegExp(`^${key}\\s*:`))}`;
}

/** No programs, but as good as: a stranger's file must not open this machine, or the secrets in its environment, to an agent. */
function grantsOf({ agents, runtimes }: Settings): TrustItem[] {
  const grant = (run: string): TrustItem => ({ from: 'agent', run, where: SETTINGS_FILE });
  return [
    ...(agents ?? []).flatMap(({ name, access, allow }) => [
      ...(access === 'full' ? [grant(`${name} works without any confinement (access: full)`)] : []),
      ...(allow ?? []).map((tool) => grant(`${name} may use ${tool}`)),
    ]),
    ...Object.entries(runtimes).flatMap(([name, { env }]) =>
      env.filter((variable) => !OWN.test(variable)).map((variable) => grant(`${name} gets the variable ${variable}`)),
    ),
  ];
}

/** Variables that say how a runtime reaches its own model: it would have read them itself. */
const OWN = /^(?:ANTHROPIC|CLAUDE|OPENAI|CODEX)_|^(?:HTTPS?|NO|ALL)_PROXY$|^NODE_EXTRA_CA_CERTS$/i;

export interface TrustGate {
  readonly store: TrustStore;
  readonly repository: string;
  /** `--yes`: for this run, remembered nowhere. */
  readonly yes: boolean;
  readonly confirm: ((items: readonly TrustItem[]) => Promise<boolean>) | undefined;
  readonly now: () => number;
}

/** Returns the hash of what was agreed to, null where there is nothing; throws `not-trusted` where nobody did. */
export async function agree(items: readonly TrustItem[], gate: TrustGate): Promise<string | null> {
  if (items.length === 0) return null;
  const { store, repository } = gate;
  const hash = trustHash(items.map(({ from, run }) => `${from}: ${run}`));
  if (gate.yes || (await isTrusted(store, { hash, repository }))) return hash;
  if (gate.confirm === undefined) {
    throw notTrusted(
      items,
      'nobody has agreed to what would run here',
      'Read it, then run the command again with `--yes`.',
    );
  }
  if (!(await gate.confirm(items))) {
    throw notTrusted(items, 'you did not agree to what would run here', 'Take it out of the file that names it.');
  }
  await rememberTrust(store, { hash, repository, at: gate.now() });
  return hash;
}

function notTrusted(items: readonly TrustItem[], message: string, next: string): SquadError {
  return new SquadError({ code: 'not-trusted', message: [`${message}:`, ...trustLines(items)].join('\n'), next });
}

/** As a person reads them; the text is a stranger's and has to be made plain where it is shown. */
export function trustLines(items: readonly TrustItem[]): string[] {
  return items.map(({ from, run, where }) => `${where}: ${from}: ${run}`);
}
