import { WHOLE_RUN, type Intervention, type Reload } from '../model/plan/intervention.ts';
import type { OperatorRequest } from '../read-model/requests.ts';
import { utcTime } from '../text/time.ts';
import { inline, table } from './markdown.ts';
import type { RunReading } from '../read-model/read-run.ts';

/** Operators' commands, so that a reader can tell their decisions from verified results. */
export function peopleSection({ interventions }: RunReading): string | undefined {
  if (interventions.length === 0) return undefined;
  const rows = interventions.map(({ at, by, intervention }: OperatorRequest) => [
    utcTime(at),
    inline(by),
    intervention.verb,
    inline(aboutOf(intervention)),
    inline(reasonOf(intervention)),
  ]);
  return `## Operator commands\n\n${table(['when', 'who', 'what', 'about', 'why'], rows)}`;
}

function aboutOf(intervention: Intervention): string {
  switch (intervention.verb) {
    case 'pause':
    case 'resume':
    case 'cancel':
      return scopeText(intervention.on);
    case 'drain':
    case 'stop':
    case 'reload':
      return scopeText(WHOLE_RUN);
    case 'retry':
      return `${intervention.task}${intervention.fresh ? ', from the delivered state in a new session' : ''}`;
    case 'skip':
      return intervention.task;
    case 'override':
      return `${intervention.task}: ${intervention.as}`;
    case 'switch': {
      const { on, runtime, model } = intervention;
      return `${scopeText(on)} to ${runtime}${model === undefined ? '' : ` (${model})`}`;
    }
    default:
      return intervention satisfies never;
  }
}

function reasonOf(intervention: Intervention): string {
  if ('why' in intervention) return intervention.why;
  if (intervention.verb === 'reload') return reloadText(intervention);
  return intervention.verb === 'retry' ? (intervention.note ?? '') : '';
}

function reloadText({ setup, verify, limits }: Reload): string {
  const commands = (steps: Reload['setup']): string => steps.map(({ run }) => run).join(' && ') || 'none';
  return `setup: ${commands(setup)}; verify: ${commands(verify)}; limits: ${JSON.stringify(limits)}`;
}

function scopeText(scope: string): string {
  return scope === WHOLE_RUN ? 'the run' : scope.replace('/', ' ');
}
