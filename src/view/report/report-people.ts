import type { ArmoryFacts } from '../../model/armory-facts.ts';
import type { Intervention, Reload } from '../../model/plan/intervention.ts';
import { agentScope, scopeName } from '../../model/plan/scope.ts';
import { roundText, type ShownStage, STAGE_SIGNS } from '../../model/shown-stage.ts';
import { mailLeft } from '../../rules/mail-left.ts';
import type { Delivery, MailStatus } from '../../substrate/ports/mailbox.ts';
import { utcTime } from '../../text/time.ts';
import type { RunReading } from '../read-run.ts';
import type { OperatorRequest } from '../replay-plan.ts';
import { code, ownWords, paragraph, type Section, section, table, tableSection, type Text, words } from './document.ts';
import { duration, short } from './report-head.ts';

const MOST_ROWS = 20;

/** Operators' commands, so that a reader can tell their decisions from verified results. */
export function peopleSection({ interventions }: RunReading): Section | undefined {
  const rows = interventions.map(({ at, by, intervention }: OperatorRequest): Text[] => [
    ownWords(utcTime(at)),
    by,
    ownWords(intervention.verb),
    aboutOf(intervention),
    reasonOf(intervention),
  ]);
  return tableSection('Operator commands', ['when', 'who', 'what', 'about', 'why'], rows);
}

function aboutOf(intervention: Intervention): string {
  const scope = 'on' in intervention ? intervention.on : undefined;
  const also = 'also' in intervention ? (intervention.also ?? []) : [];
  if (intervention.verb === 'tell') return scopeName(agentScope(intervention.agent));
  const about = 'task' in intervention ? intervention.task : [scope, ...also].map(scopeName).join(', ');
  switch (intervention.verb) {
    case 'retry': {
      const { fresh, agent } = intervention;
      return `${about}${agent === undefined ? '' : ` by ${agent}`}${fresh ? ', from the delivered state in a new session' : ''}`;
    }
    case 'override':
      return `${about}: ${intervention.as}`;
    case 'switch': {
      const { runtime, model } = intervention;
      return `${about} to ${runtime}${model === undefined ? '' : ` (${model})`}`;
    }
    default:
      return about;
  }
}

function reasonOf(intervention: Intervention): string {
  if ('why' in intervention) return intervention.why;
  if (intervention.verb === 'rework') return intervention.problems.map((one) => one.split('\n', 1)[0]).join('; ');
  if (intervention.verb === 'reload') return reloadText(intervention);
  if (intervention.verb === 'tell') return `${intervention.text}${intervention.now ? ' (at once)' : ''}`;
  return intervention.verb === 'retry' ? (intervention.note ?? '') : '';
}

function reloadText({ setup, verify, limits, criteria = [] }: Reload): string {
  const commands = (steps: Reload['setup']): string => steps.map(({ run }) => run).join(' && ') || 'none';
  const checks = criteria.flatMap(({ command }) => command ?? []);
  const checked = checks.length === 0 ? '' : `; criteria: ${checks.join(', ')}`;
  return `setup: ${commands(setup)}; verify: ${commands(verify)}; limits: ${JSON.stringify(limits)}${checked}`;
}

/** Skills, servers, hooks and settings of the agents; undefined: none has any. */
export function armorySection(armory: readonly ArmoryFacts[]): Section | undefined {
  const rows = armory.flatMap((facts) => rowsOf(facts).map((row) => [facts.agent, ...row]));
  return tableSection('Armory', ['agent', 'bound to', 'which', 'hash'], rows);
}

function rowsOf(facts: ArmoryFacts): Text[][] {
  const { skills, mcp, hooks, files, deny, env, effort, network, home, ask } = facts;
  const content = (what: string, name: string, hash: string): Text[] => [ownWords(what), name, code(short(hash))];
  const setting = (what: string, value: string): Text[] => [ownWords(what), value, ''];
  return [
    ...skills.map(({ name, hash }) => content('skill', name, hash)),
    ...mcp.map(({ name, hash }) => content('MCP server', name, hash)),
    ...hooks.map(({ on, tool, hash }) => content('hook', tool === null ? on : `${on} ${tool}`, hash)),
    ...files.map(({ path, hash }) => content('file', path, hash)),
    ...(effort === null ? [] : [setting('effort', effort)]),
    ...(network && facts.access === 'edit' ? [setting('network', 'open')] : []),
    ...deny.map((rule) => setting('denied', rule)),
    ...env.map((name) => setting('variable', name)),
    ...(home === null ? [] : [setting('home', home)]),
    ...(ask === null ? [] : [setting('ask', ask)]),
  ];
}

/** The number of messages, and those that no member has read or answered; undefined if there was no mail. */
export function mailSection(mail: MailStatus | undefined): Section | undefined {
  if (mail === undefined || mail.counts.messages + mail.counts.refused === 0) return undefined;
  const { counts, unanswered, dead } = mail;
  const refused = counts.refused === 0 ? '' : ` ${counts.refused} more were refused.`;
  const left = mailLeft(mail);
  const open = [...dead, ...unanswered.filter(({ message }) => !dead.some((one) => one.message.id === message.id))];
  const how = left === undefined ? ownWords('All were read, and no question is open.') : `${left}.`;
  return section('Mail', [
    paragraph(
      words`Messages: ${counts.messages}.${ownWords(refused)} ${how} ${code('squad mail trace')} shows it all.`,
    ),
    ...(open.length === 0 ? [] : [table(['id', 'from', 'to', 'what', 'why'], open.slice(0, MOST_ROWS).map(rowOf))]),
    ...(open.length > MOST_ROWS ? [paragraph(words`${open.length - MOST_ROWS} more.`)] : []),
  ]);
}

function rowOf({ message, recipient, state, lastError }: Delivery): Text[] {
  const { id, from, type, action } = message;
  const what = action === undefined ? type : `${type}/${action}`;
  const why = state === 'dead' ? (lastError ?? '') : 'not answered';
  return [code(id), from, recipient, ownWords(what), why];
}

/** The stages in their order: state, rounds, who, since when and for how long. */
export function stagesSection(stages: readonly ShownStage[], now: number): Section | undefined {
  const rows = stages.map((stage, index): Text[] => [
    ownWords(`${index + 1}/${stages.length}`),
    stateOf(stage),
    nameOf(stage),
    ownWords(roundText(stage)),
    stage.by.join(', '),
    ownWords(stage.startedAt === undefined ? '' : utcTime(stage.startedAt)),
    ownWords(tookText(stage, now)),
  ]);
  return tableSection('Stages', ['#', 'state', 'stage', 'rounds', 'by', 'since', 'took'], rows);
}

/** With its title, unless that is only its id in other letters. */
function nameOf({ id, title }: ShownStage): Text {
  const letters = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]/gu, '').toLowerCase();
  return letters(id) === letters(title) ? id : words`${id}: ${title}`;
}

/** Empty: it is not known, or the stage waits to go on. */
function tookText({ state, startedAt, endedAt }: ShownStage, now: number): string {
  const end = endedAt ?? (state === 'live' ? now : undefined);
  return startedAt === undefined || end === undefined ? '' : duration(end - startedAt);
}

function stateOf({ state }: ShownStage): Text {
  return ownWords(`${STAGE_SIGNS[state]} ${state}`, state === 'done' ? 'good' : state === 'failed' ? 'bad' : undefined);
}
