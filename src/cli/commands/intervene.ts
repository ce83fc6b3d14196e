import { WHOLE_RUN } from '../../model/plan/scope.ts';
import { VERBS, type InterventionRequest } from '../../model/plan/verbs.ts';
import type { Intervened } from '../../squad/intervene.ts';
import { squadOn } from '../../squad/squad.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { printResult } from '../output.ts';

/** A command that the run cannot carry out now is refused with exit 2, and nothing is stored. `offers`: the caller asks about a resume. */
export async function intervene(
  { host, output, remote }: CommandContext,
  run: string | undefined,
  request: InterventionRequest,
  options: JsonOptions,
  offers = false,
): Promise<Intervened> {
  const done = await (remote ?? squadOn(host)).intervene(run, request);
  const { runId, name, by, seq, at, driven, heard } = done;
  const found = { type: 'intervened', at, runId, name, verb: request.verb, by, seq, driven, heard };
  printResult(output, options, found, [
    `${name}: ${saidOf(done, request)}`,
    ...(offers && waitsForResume(done) ? [] : nextLine(done, request)),
  ]);
  return done;
}

function saidOf(done: Intervened, request: InterventionRequest): string {
  if (endsRun(request) && done.needs === 'retry')
    return 'the run stays as it had ended; what was to open it again is withdrawn';
  const { says } = VERBS[request.verb] as { says: (given: InterventionRequest) => string };
  return plainLine(says(request), 200);
}

function endsRun(request: InterventionRequest): boolean {
  return request.verb === 'cancel' && (request.on ?? WHOLE_RUN) === WHOLE_RUN;
}

/** It takes effect once the run is resumed. */
export function waitsForResume({ driven, needs }: Intervened): boolean {
  return !driven && needs === 'resume';
}

function nextLine({ name, driven, heard, needs }: Intervened, request: InterventionRequest): string[] {
  if (driven) return heard ? [] : ['Its engine is busy and applies this after its current step.'];
  // `squad cancel` ends the run itself.
  if (endsRun(request)) return [];
  switch (needs) {
    case 'retry':
      return ['The run is over. This takes effect once you retry a task with `squad retry`.'];
    case 'resume':
      return [`Next: squad resume ${name}`];
    case 'nothing':
      return ['No engine is running for it.'];
  }
}
