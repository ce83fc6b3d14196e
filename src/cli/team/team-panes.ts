import type { Composition } from '../../engine/compose.ts';
import type { MailPolicy } from '../../model/mail/policy.ts';
import { MAIN } from '../../model/mail/vocabulary.ts';
import { runtimeChoice } from '../../engine/runtime-choice.ts';
import { FORGE_TOKENS } from '../../substrate/git/forge/remotes.ts';
import type { TerminalPane } from '../../substrate/ports/terminal.ts';
import { letThroughBy } from '../../model/let-through.ts';
import { plainLine } from '../../text/plain-text.ts';
import { pickVariables } from '../../text/defined.ts';

/** The data that the panes of one run share. */
export interface TeamFacts {
  /** Node and squad's own entry, as this process was started. */
  readonly program: readonly string[];
  /** The folder in which `squad team` was called. */
  readonly directory: string;
  readonly run: string;
  /** Variables that say where squad keeps what. */
  readonly environment: Readonly<Record<string, string>>;
  readonly session: string;
  readonly epoch: number;
  /** `team.windowName` of the settings. */
  readonly format: string;
}

export interface MemberPane {
  readonly address: string;
  /** `TEAM_AGENT_ID`: which pane of that member this is. */
  readonly instance: string;
  readonly windowName: string;
}

/** One for each member of the mail policy, MAIN first. Each call of `unique` returns a new value. */
export function membersOf(
  { members }: MailPolicy,
  { session, format }: Pick<TeamFacts, 'session' | 'format'>,
  unique: () => string,
): readonly MemberPane[] {
  const addresses = members.map(({ address }) => address);
  const mainFirst = addresses.toSorted((a, b) => Number(b === MAIN) - Number(a === MAIN));
  return mainFirst.map((address) => ({
    address,
    instance: `${address}-${unique()}`,
    windowName: windowNameOf(format, session.slice(0, 8), address),
  }));
}

/** The pane of one member. Its ticket holds the secrets. */
export function memberPane(facts: TeamFacts, member: MemberPane, ticket: string): TerminalPane {
  const { address, instance, windowName } = member;
  return {
    title: windowName,
    command: [...facts.program, 'team', 'pane', '--run', facts.run, '--as', address, '--ticket', ticket],
    directory: facts.directory,
    environment: {
      ...facts.environment,
      TEAM_ROLE: address,
      TEAM_AGENT_ID: instance,
      TEAM_SESSION: facts.session,
      TEAM_EPOCH: String(facts.epoch),
      TEAM_WINDOW_NAME: windowName,
      SQUAD_AGENT: address,
      SQUAD_RUN: facts.run,
    },
    stays: false,
  };
}

/** The pane that drives the run and keeps its last output on the screen. Its ticket holds the runtimes' environment. */
export function enginePane(
  facts: Pick<TeamFacts, 'program' | 'directory' | 'environment'>,
  args: readonly string[],
  ticket: string,
): TerminalPane {
  return {
    title: 'team-engine',
    command: [...facts.program, 'team', 'engine', '--ticket', ticket, '--', ...args],
    directory: facts.directory,
    environment: facts.environment,
    stays: true,
  };
}

/** The name of one member's window, from `team.windowName` in the settings. */
export function windowNameOf(format: string, session: string, role: string): string {
  return plainLine(format.replaceAll('{session}', session).replaceAll('{role}', role), 120);
}

/**
 * The variables for runtimes from the environment that `squad team` is called with. A long-running tmux server has an older
 * environment or none of these. They may be keys, so they travel in a ticket and never on a command line.
 */
export function environmentOfRuntimes(
  environment: Readonly<Record<string, string | undefined>>,
  registered: Pick<Composition, 'runtimes' | 'describe'>,
  settings: Parameters<typeof letThroughBy>[0],
): Record<string, string> {
  const { runtimes } = settings;
  const names = Object.keys({ ...registered.runtimes, ...runtimes });
  const read = names.flatMap((name) => registered.describe(name, runtimeChoice(runtimes, name)).reads ?? []);
  return pickVariables(environment, [...new Set([...read, ...letThroughBy(settings), ...FORGE_TOKENS])]);
}
