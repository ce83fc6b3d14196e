import type { Intervention, Reload } from '../../model/plan/intervention.ts';
import { scopeName } from '../../model/plan/scope.ts';
import type { OperatorRequest } from '../replay-plan.ts';
import { utcTime } from '../../text/time.ts';
import { ownWords, tableSection, type Section, type Text } from './document.ts';
import type { RunReading } from '../read-run.ts';

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
  if (intervention.verb === 'reload') return reloadText(intervention);
  return intervention.verb === 'retry' ? (intervention.note ?? '') : '';
}

function reloadText({ setup, verify, limits, criteria = [] }: Reload): string {
  const commands = (steps: Reload['setup']): string => steps.map(({ run }) => run).join(' && ') || 'none';
  const checks = criteria.flatMap(({ command }) => command ?? []);
  const checked = checks.length === 0 ? '' : `; criteria: ${checks.join(', ')}`;
  return `setup: ${commands(setup)}; verify: ${commands(verify)}; limits: ${JSON.stringify(limits)}${checked}`;
}
