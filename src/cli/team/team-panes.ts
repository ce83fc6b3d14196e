import type { MailPolicy } from '../../model/mail/policy.ts';
import { MAIN } from '../../model/mail/vocabulary.ts';
import type { TerminalPane } from '../../substrate/ports/terminal.ts';
import { windowNameOf } from './pane-title.ts';

/** What the panes of one run have in common. */
export interface TeamFacts {
  /** Node and squad's own entry, as this process was started. */
  readonly program: readonly string[];
  /** Where `squad team` was called. */
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

/** One for each member of the mail policy, MAIN first. `unique`: something no other pane has, a new one at each call. */
export function membersOf(
  { members }: MailPolicy,
  { session, format }: Pick<TeamFacts, 'session' | 'format'>,
  unique: () => string,
): readonly MemberPane[] {
  const addresses = members.map(({ address }) => address);
  const ordered = [...addresses.filter(isMain), ...addresses.filter((address) => !isMain(address))];
  return ordered.map((address) => ({
    address,
    instance: `${address}-${unique()}`,
    windowName: windowNameOf(format, shortSession(session), address),
  }));
}

/** The pane of one member. Its ticket holds what nobody else may see. */
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

/** Enough of the session for people, and for the names of windows. */
function shortSession(session: string): string {
  return session.slice(0, 8);
}

function isMain(address: string): boolean {
  return address === MAIN;
}
