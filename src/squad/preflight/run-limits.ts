import { checkLimits, type Limits, type SomeLimits } from '../../model/limits.ts';
import type { Objective } from '../../model/objective.ts';
import {
  decideAgentLimits,
  decideLimits,
  limitsIn,
  limitText,
  roundsAbove,
  type ChangedLimit,
  type DecidedLimits,
} from '../settings/decide-limits.ts';
import { listIn } from './list-choice.ts';
import { lineOf } from './read-input.ts';
import { sourceOf, type SettingsRead } from './read-settings.ts';
import type { TrustItem } from './trust-item.ts';

/** A note for people about limits that a file lowered or raised. */
export interface LimitNote {
  readonly about: 'limit-sources';
  readonly text: string;
  readonly next?: undefined;
}

export interface RunLimits extends Pick<DecidedLimits, 'asked' | 'held'> {
  /** Limits that need consent. */
  readonly items: readonly TrustItem[];
  readonly notes: readonly LimitNote[];
  /** The settings with the agents' limits that count. */
  readonly read: SettingsRead;
}

/**
 * The limits of a run, from all that names any: the command line, the objective, `squad.yaml` with its list of stages if that is played,
 * and the person's own settings.
 */
export function limitsOfRun(
  commandLine: SomeLimits,
  objective: Pick<Objective, 'file' | 'text' | 'frontMatter'>,
  read: SettingsRead,
  isListPlayed = false,
): RunLimits {
  const flags = checkLimits(commandLine);
  const own = limitsIn(read.own?.raw);
  const ofRepository = { where: whereIn(read.repository), limits: limitsIn(read.repository.raw) };
  const ofObjective = { where: whereIn(objective), limits: objective.frontMatter.limits };
  const decided = decideLimits({ own, sources: [ofRepository, ofObjective], commandLine: flags });
  const agents = agentsOf(read, { ...own, ...flags });
  const raised = [...decided.raised, ...agents.raised, ...(isListPlayed ? roundsIn(read, own) : [])];
  return {
    asked: decided.asked,
    held: decided.held,
    items: raised.map(limitItem),
    notes: notesOf(raised, decided.lowered),
    read: agents.read,
  };
}

/** Limits in `squad.yaml` for a run that continues, beyond those in the person's own settings. */
export function limitsOfReload({ own, repository }: SettingsRead): DecidedLimits {
  const source = { where: whereIn(repository), limits: limitsIn(repository.raw) };
  return decideLimits({ own: limitsIn(own?.raw), sources: [source], commandLine: {} });
}

/** With both numbers: `limits.usd 5000, your own limit is 1`. */
export function limitItem({ agent, ...limit }: ChangedLimit & { readonly agent?: string }): TrustItem {
  const { key, value, instead, whose, where } = limit;
  const other = whose === 'own' ? 'your own limit is' : 'the default of squad is';
  const of = agent === undefined ? '' : `${agent}: `;
  return { from: 'limits', run: `${of}limits.${key} ${limitText(value)}, ${other} ${limitText(instead)}`, where };
}

function agentsOf(
  read: SettingsRead,
  run: SomeLimits,
): { readonly read: SettingsRead; readonly raised: ReturnType<typeof decideAgentLimits>['raised'] } {
  const { repository, own, settings } = read;
  // Without agents of the repository, the person's own are at work.
  if (settings.agents === undefined || !Object.hasOwn(repository.raw, 'agents')) return { read, raised: [] };
  const { file, text } = sourceOf(repository, 'agents');
  const where = `${file}:${lineOf(text, 'agents')}`;
  const about = { agents: own?.settings.agents ?? [], run };
  const { agents, raised } = decideAgentLimits(settings.agents, about, where);
  return { read: { ...read, settings: { ...settings, agents: [...agents] } }, raised };
}

function roundsIn({ repository }: SettingsRead, own: SomeLimits | undefined) {
  const { file, text } = sourceOf(repository, 'playbook');
  const where = `${file}:${lineOf(text, 'playbook')}`;
  return roundsAbove(listIn(repository.settings)?.stages ?? [], own, where);
}

function notesOf(raised: readonly ChangedLimit[], lowered: readonly ChangedLimit[]): LimitNote[] {
  const said = [...raised.map((one) => changeText(one, 'raised')), ...lowered.map((one) => changeText(one, 'lowered'))];
  return said.length === 0 ? [] : [{ about: 'limit-sources', text: `limits of this run: ${said.join('; ')}` }];
}

function changeText(limit: ChangedLimit & { readonly agent?: string }, how: 'raised' | 'lowered'): string {
  const { agent, key, value, instead, whose, where } = limit;
  const from = instead === undefined ? '' : ` from ${limitText(instead)}`;
  const of = agent === undefined ? '' : `${agent} `;
  return `${of}${key} ${limitText(value)}, ${how}${from} (${whose === 'own' ? 'your own' : 'the default'}) by ${where}`;
}

function whereIn({ file, text }: { readonly file: string; readonly text: string }): string {
  return `${file}:${lineOf(text, 'limits')}`;
}

/** The limits of a run that starts with what a person agreed to. */
export function limitsFor({ asked, held }: Pick<RunLimits, 'asked' | 'held'>, agreed: boolean): Limits {
  return agreed ? asked : held;
}
