import { assertNever } from '../model/assert-never.ts';
import type { Work, WorkEvent } from '../model/plan/work.ts';
import { decideRun } from './check-again.ts';
import { noting } from './check-notes.ts';
import { nothingSince } from './evidence.ts';
import { EVIDENCE } from './evidence-texts.ts';
import { FEEDBACK } from './feedback-texts.ts';
import { withoutEvidence } from './work-author.ts';
import { backToAuthor, done, fail, firstSentBack, stay, type WorkContext, type WorkStep } from './work-step.ts';

type IntegrationEvent = Extract<
  WorkEvent,
  {
    type: 'integration-started' | 'integrated' | 'conflict' | 'verified' | 'branch-advanced' | 'branch-foreign';
  }
>;

/** One task at a time, on a candidate. The run branch moves only to a verified commit. */
export function integrationStep(work: Work, event: IntegrationEvent, context: WorkContext): WorkStep {
  const { phase } = work;
  switch (event.type) {
    case 'integration-started':
      if (phase.at === 'gathering') return stay({ ...work, phase: { ...phase, holdsQueue: true } });
      return phase.at === 'in-queue' ? stay({ ...work, phase: { ...phase, at: 'integrating' } }) : stay(work);
    case 'integrated': {
      if (phase.at !== 'integrating') return stay(work);
      const { candidate } = event;
      const next = { commit: phase.commit, since: phase.since, candidate };
      return stay({ ...work, phase: { at: context.verifies ? 'verifying' : 'advancing', ...next } });
    }
    case 'conflict': {
      if (phase.at !== 'integrating') return stay(work);
      const files = event.files.map((file) => `- ${file}`).join('\n');
      const text = FEEDBACK.conflict(phase.commit, event.head, files);
      return sendBack(work, 'conflict', text, context);
    }
    case 'verified':
      return phase.at === 'verifying' && phase.candidate === event.candidate
        ? verified(work, phase, event, context)
        : stay(work);
    case 'branch-advanced':
      return phase.at === 'advancing' ? done({ ...work, delivered: event.commit }, context) : stay(work);
    // The task keeps its place in the queue until the operator has answered.
    case 'branch-foreign':
      if (phase.at !== 'integrating' && phase.at !== 'advancing') return stay(work);
      return stay({ ...work, phase: { at: 'in-queue', commit: phase.commit, since: phase.since } });
    default:
      return assertNever(event);
  }
}

/** The merged work has passed what it was sent back for, and has no conflict. */
function withoutCheck(work: Work): Work {
  const by = work.sentBack?.by;
  return by === 'verify' || by === 'conflict' ? { ...work, sentBack: null } : work;
}

function verified(
  before: Work,
  phase: Extract<Work['phase'], { at: 'verifying' }>,
  event: Extract<IntegrationEvent, { type: 'verified' }>,
  context: WorkContext,
): WorkStep {
  const { candidate, passed, output, command = '', changed = [] } = event;
  const { checked } = before;
  const failures = decideRun(before, candidate);
  const flaky = passed && checked?.candidate === candidate ? [checked.command] : [];
  const work = noting(before, { flaky, changed });
  if (passed) return stay({ ...withoutCheck(work), phase: { ...phase, at: 'advancing' } });
  const failed = { ...work, checked: { candidate, command, failures } };
  const where = FEEDBACK.ranOn(candidate);
  if (failures === 1 || work.returned === null) {
    return sendBack(failed, 'verify', `${output.trimEnd()}\n${where}`, context);
  }
  const again = EVIDENCE.failedAgain(nothingSince(work.returned), output.trimEnd());
  return withoutEvidence(failed, [again], context, 'no-evidence');
}

/** Takes no review round, but has its own limit. The new commit is reviewed again. */
function sendBack(work: Work, cause: 'conflict' | 'verify', text: string, context: WorkContext): WorkStep {
  const { task, limits } = context;
  const sentBack = firstSentBack(work, { by: cause, text });
  // A person may try the task again after its end, and the check has then still not passed.
  const last = { ...work, feedback: [...work.feedback, text], ...(cause === 'verify' ? { sentBack } : {}) };
  if (task.kind !== 'work') return fail(last, context, cause, text);
  if (work.returns[cause] >= limits.rounds - 1) return fail(last, context, cause, text);
  const returns = { ...work.returns, [cause]: work.returns[cause] + 1 };
  return stay({
    ...backToAuthor(work, cause, text),
    returned: work.commit,
    sentBack,
    returns,
  });
}
