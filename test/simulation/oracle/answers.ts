import { plainJson, type Json } from '../../../src/text/json.ts';
import { addressOf } from '../../../src/model/mail/address.ts';
import { answer as workerAnswer } from '../../support/session-folder.ts';
import { draw, drawInt, drawOf } from '../world/draw.ts';
import { formOf, type Cue } from '../world/simulated-agents.ts';
import { ALL_FIXED, finding } from '../../support/findings.ts';
import type { Troupe } from './troupe.ts';

interface Said {
  readonly answer?: Json;
  /** Why the run may fail of it; absent: it does not stand in the way. */
  readonly trouble?: string;
  /** What it says is missing, while it says that all is well. */
  readonly open?: readonly string[];
}

/** What a turn answers, by the form that is asked for. */
export function answerTo(troupe: Troupe, cue: Cue): Said {
  const { seed, weather } = troupe;
  const { task, number, request } = cue;
  const form = formOf(request);
  const rejects = draw(seed, 'verdict', task, form, number) < weather.rejections;
  switch (form) {
    case '':
      return {};
    case 'approved checks findings settled summary': {
      // In a later round only what was said before, or new harm, stands in the way.
      const found = finding('finding', { blocks: number > 1 ? 'new-harm' : 'defect', criterion: null });
      const answer = { approved: !rejects, summary: 'judged', findings: rejects ? [found] : [], settled: ALL_FIXED };
      return { answer, ...(rejects ? { trouble: 'it rejects' } : {}) };
    }
    case 'summary tasks':
      return { answer: { summary: 'a plan', tasks: plannedTasks(seed, weather.pieces) } };
    case 'criteria summary tasks':
      return { answer: { summary: 'a plan', tasks: plannedTasks(seed, weather.pieces), criteria: [] } };
    case 'failures passed summary': {
      const open = rejects ? [] : openPoints(troupe, cue);
      const failures = rejects ? ['it fails'] : open;
      return {
        answer: { passed: !rejects, summary: 'tested', failures: [...failures] },
        open,
        ...(failures.length > 0 ? { trouble: 'its test fails' } : {}),
      };
    }
    case 'tasks':
      return { answer: { tasks: plannedTasks(seed, weather.pieces).map((one) => withPaths(seed, one, cue)) } };
    case 'approved criteria findings summary': {
      const finding = { file: null, line: null, problem: 'a problem', suggestion: null };
      const answer = { approved: !rejects, summary: 'judged', findings: rejects ? [finding] : [], criteria: [] };
      return { answer, ...(rejects ? { trouble: 'it disapproves' } : {}) };
    }
    case 'followUps left summary tryIt': {
      const left = openPoints(troupe, cue);
      const answer = { summary: 'built', tryIt: [], left: [...left], followUps: [] };
      return { answer, open: left, ...(left.length > 0 ? { trouble: left.join() } : {}) };
    }
    case 'verdicts':
      return verdictsOf(troupe, cue);
    case 'answer doc_path doc_updated reason': {
      // Without a reason, it says that the documentation has it.
      const reason = draw(seed, 'reason', task) < 0.5 ? '' : 'it is written there';
      return { answer: { answer: 'so', doc_updated: reason === '', doc_path: '', reason } };
    }
    case 'issues questions summary':
      return {
        answer: { issues: rejects || hasIssue(seed, cue) ? [ISSUE] : [], summary: 'looked', questions: [] },
        ...(rejects ? { trouble: 'it finds fault' } : {}),
      };
    case 'changes_summary':
      return { answer: { changes_summary: 'better' } };
    case 'assignments summary':
      return { answer: { summary: 'work', assignments: assignmentsOf(troupe) } };
    case 'open_points summary':
      return {
        answer: { summary: 'closed', open_points: [...openPoints(troupe, cue)] },
        open: openPoints(troupe, cue),
      };
    case 'artifact decisions discussion explorations issues learnings memory summary':
      return { answer: plainJson(workerAnswer({ summary: task })) };
    case 'note':
      return { answer: { note: 'seen' } };
    default:
      throw new Error(`no agent here knows the form: ${form}`);
  }
}

/** What a turn says is missing, though it says that all is well. */
function openPoints({ seed, weather }: Troupe, { task, number }: Cue): readonly string[] {
  return draw(seed, 'open', task, number) < weather.open ? [`the form of ${task} is missing`] : [];
}

const ISSUE = {
  doc_path: 'docs/design.md',
  code_paths: [],
  category: 'docs',
  severity: 'low',
  summary: 'unclear',
  suggestion: 'say more',
};

/** At the first look only: a council that always finds something ends without work. */
function hasIssue(seed: number, { task, number }: Cue): boolean {
  return task.startsWith('review-') && number === 1 && draw(seed, 'issue', task) < 0.4;
}

function assignmentsOf({ seed, weather, definition }: Troupe): Json[] {
  const members = definition.agents.filter(({ role }) => role === 'member').map((one) => addressOf(one));
  return Array.from({ length: weather.pieces }, (_, index) => ({
    task_id: `T-${index + 1}`,
    to: drawOf(members as [string, ...string[]], seed, 'member', index),
    task_type: 'implement',
    summary: `part ${index + 1}`,
    files: [],
    success_criteria: ['it is there'],
    dependencies: index > 0 && draw(seed, 'depends', index) < 0.4 ? [`T-${index}`] : [],
    deadline_minutes: 60,
  }));
}

/** For a plan whose tasks have paths, and roles only where it is asked for them. */
function withPaths(seed: number, { role, ...task }: ReturnType<typeof plannedTasks>[number], { request }: Cue): Json {
  const chosen = drawOf([role, 'writer'] as const, seed, 'role', task.id);
  const hasChoice = JSON.stringify(request.outputSchema).includes('"role"');
  return { ...task, ...(hasChoice ? { role: chosen } : {}), paths: [`${task.id}.txt`] };
}

function plannedTasks(seed: number, count: number) {
  return Array.from({ length: count }, (_, index) => ({
    id: `t${index + 1}`,
    title: `Task ${index + 1}`,
    role: 'builder',
    needs: Array.from({ length: index }, (_none, other) => `t${other + 1}`).filter(
      (other) => draw(seed, 'needs', index, other) < 0.4,
    ),
    brief: `Build part ${index + 1}.`,
    acceptance: ['it works'],
  }));
}

/** One for each criterion that its prompt lists, or for some of them; what is met shows in a file, or in one that is not there. */
function verdictsOf({ seed, weather, stage }: Troupe, { request, task, number }: Cue): Said {
  const asked = [...request.prompt.matchAll(/^(\d+)\. /gm)].map(([, index]) => Number(index));
  const files = [...(stage.repository.git.filesIn(request.workspace.path)?.keys() ?? [])];
  const verdicts = asked.flatMap((criterion): Json[] => {
    const luck = (name: string): number => draw(seed, name, task, number, criterion);
    if (luck('no verdict') < 0.1) return [];
    const met = weather.calm || luck('met') >= 0.15;
    const shown =
      luck('shown') < 0.25 ? 'nowhere.txt' : (files[drawInt(0, files.length - 1, seed, 'file', criterion)] ?? null);
    const line = luck('line') < 0.1 ? 0 : 1;
    return [{ criterion, met, file: met ? shown : null, line: met ? line : null, why: met ? 'seen' : 'missing' }];
  });
  const unmet = verdicts.some((one) => typeof one === 'object' && one !== null && 'met' in one && one['met'] === false);
  return { answer: { verdicts }, ...(unmet ? { trouble: 'it is not met' } : {}) };
}
