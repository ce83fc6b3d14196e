import { WHOLE_RUN } from '../../model/plan/scope.ts';
import type { Intervened, InterventionRequest } from '../../squad/intervene.ts';
import { squadOn } from '../../squad/squad.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { printResult } from '../output.ts';

/** A command that the run cannot carry out now is refused with exit 2, and nothing is stored. */
export async function intervene(
  { host, output }: CommandContext,
  run: string | undefined,
  request: InterventionRequest,
  options: JsonOptions,
): Promise<Intervened> {
  const done = await squadOn(host).intervene(run, request);
  const { runId, name, by, seq, at, driven, heard } = done;
  const found = { type: 'intervened', at, runId, name, verb: request.verb, by, seq, driven, heard };
  printResult(output, options, found, [`${name}: ${plainLine(sayWhat(request), 200)}`, ...nextLine(done, request)]);
  return done;
}

function nextLine({ name, driven, heard, needs }: Intervened, request: InterventionRequest): string[] {
  if (driven) return heard ? [] : ['Its engine is busy and applies this after its current step.'];
  switch (needs) {
    case 'retry':
      return ['The run is over. This takes effect once you retry a task with `squad retry`.'];
    case 'resume':
      // `squad cancel` ends the run itself.
      if (request.verb === 'cancel' && (request.on ?? WHOLE_RUN) === WHOLE_RUN) return [];
      return [`Next: squad resume ${name}`];
    case 'nothing':
      return ['No engine is running for it.'];
  }
}

function sayWhat(request: InterventionRequest): string {
  switch (request.verb) {
    case 'pause':
      return `${scopeName(request.on)} is paused. Running turns finish; no new ones start.`;
    case 'resume':
      return `${scopeName(request.on)} is resumed`;
    case 'past-deadline':
      return 'turns start although its deadline has passed';
    case 'drain':
      return 'no new turns start; the engine ends once the running ones have finished';
    case 'cancel':
      return `${scopeName(request.on)} is cancelled`;
    case 'retry':
      return `${request.task} is retried${request.agent === undefined ? '' : ` by ${request.agent}`}${request.fresh === true ? ' in a new session and a fresh folder' : ''}`;
    case 'skip':
      return `${request.task} is skipped; tasks that need it start without it`;
    case 'override':
      return `${request.task} is ${request.as}, because you say so`;
    case 'switch':
      return [request.on, ...(request.also ?? [])]
        .map((on) => `${scopeName(on)} uses ${request.runtime} from its next turn on`)
        .join('; ');
    default:
      return request satisfies never;
  }
}

function scopeName(scope = WHOLE_RUN): string {
  return scope === WHOLE_RUN ? 'the run' : scope.replace('/', ' ');
}
