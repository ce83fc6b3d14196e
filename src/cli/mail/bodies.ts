import { SquadError } from '../../model/errors.ts';
import { isJsonObject } from '../../text/json.ts';
import { HANDOFF } from '../../model/mail/vocabulary.ts';
import { atMoment } from './moment.ts';
import type { SendOptions } from './options.ts';
import type { Body, DraftFacts, Sending } from './sending.ts';

/** Pure: the body that the flags of a verb make, with `--body` over it. Throws `usage` where something is missing. */
export function bodyOf(verb: Sending, options: SendOptions, facts: DraftFacts): Body {
  const body = { ...fromFlags(verb, options, facts), ...extraBody(options.body) };
  const absent = neededBy(verb, options).find(([field]) => body[field] === undefined);
  if (absent === undefined) return body;
  throw usage(`squad mail ${verb} needs ${absent[1]}`, `See an example: \`squad mail ${verb} --help\`.`);
}

/** What the protocol asks of each, by the flag that says it. */
function neededBy(verb: Sending, { action }: SendOptions): readonly (readonly [field: string, flag: string])[] {
  switch (verb) {
    case 'review':
      return [['doc_path', '--file']];
    case 'report':
      return [['doc_path', '--file']];
    case 'assign':
      if (action === HANDOFF) return [];
      return [
        ['files', '--files'],
        ['success_criteria', '--success-criteria'],
      ];
    case 'ask':
      if (action === 'verify') {
        return [
          ['doc_path', '--doc-path'],
          ['changes_summary', '--changes-summary'],
          ['question', '--question'],
        ];
      }
      return [
        ['code_path', '--code-path'],
        ['question', '--question'],
        ['context', '--context'],
      ];
    case 'fail':
      return [['reason', '--reason']];
    case 'say':
    case 'reply':
    case 'send':
    case 'done':
      return [];
    default:
      return verb satisfies never;
  }
}

function fromFlags(verb: Sending, options: SendOptions, facts: DraftFacts): Body {
  switch (verb) {
    case 'review':
      return reviewBody(options, facts);
    case 'report':
      return reportBody(options, facts);
    case 'assign':
      return {
        task_type: options.action ?? 'implement',
        files: options.files,
        success_criteria: options.successCriteria,
        dependencies: options.dependencies ?? [],
        ...(options.summary === undefined ? {} : { summary: options.summary }),
      };
    case 'ask':
      return askBody(options);
    case 'say':
      return sayBody(options, facts);
    case 'send':
      return options.action === 'note' ? { text: options.summary } : answerBody(options, facts);
    case 'reply':
      return answerBody(options, facts);
    case 'done':
      return doneBody(options, facts);
    case 'fail':
      return { reason: options.reason, blocked_by: options.blockedBy ?? [] };
    default:
      return verb satisfies never;
  }
}

function reviewBody(options: SendOptions, { now }: DraftFacts): Body {
  const until = options.reviewDeadline ?? options.deadline;
  return {
    doc_path: options.file,
    focus: options.focus ?? [],
    reviewers: options.to,
    review_deadline: until === undefined ? undefined : atMoment(until, now),
  };
}

function reportBody(options: SendOptions, { askedBody }: DraftFacts): Body {
  const issues = options.issues === undefined ? [] : jsonList(options.issues);
  return {
    doc_path: options.file ?? askedBody?.['doc_path'],
    has_issues: issues.length > 0,
    issue_count: issues.length,
    issues,
    summary: options.summary,
    questions: options.questions,
  };
}

function askBody(options: SendOptions): Body {
  if (options.action === 'verify') {
    return { doc_path: options.docPath, changes_summary: options.changesSummary, question: options.question };
  }
  return {
    code_path: options.codePath,
    question: options.question,
    context: options.context,
    expected: options.expected,
    doc_path: options.docPath,
  };
}

function sayBody(options: SendOptions, { text, work = {} }: DraftFacts): Body {
  return {
    code_path: options.codePath ?? work.codePath ?? '-',
    question: text,
    context: options.context ?? work.context ?? '-',
    doc_path: options.docPath ?? work.docPath,
  };
}

/** An answer says that the documents were completed, or why not; people who answer in words need not say that. */
function answerBody(options: SendOptions, { text, byHand }: DraftFacts): Body {
  const isTold = options.docUpdated === true || options.body !== undefined || byHand !== true;
  return {
    text: text ?? options.summary,
    doc_updated: options.docUpdated,
    doc_path: options.docPath,
    reason: options.reason ?? (isTold ? undefined : 'answered by a person, in words'),
  };
}

function doneBody(options: SendOptions, { asked }: DraftFacts): Body {
  if (options.action === 'verified') {
    const count = options.newIssues ?? 0;
    return { has_new_issues: count > 0, new_issue_count: count, summary: options.summary };
  }
  return { status: asked?.action === 'review' ? 'no_issues' : 'done', summary: options.summary };
}

function extraBody(text: string | undefined): Body {
  if (text === undefined) return {};
  const body = parseJson(text);
  if (isJsonObject(body)) return body;
  throw usage('--body is no JSON object', `For example: --body '{"summary":"as agreed"}'.`);
}

function jsonList(text: string): readonly unknown[] {
  const value = parseJson(text);
  if (Array.isArray(value)) return value;
  throw usage('--issues is no JSON array', 'Each issue is an object; docs/protocol.md lists its fields.');
}

/** undefined: no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // JSON cannot say undefined, so nothing is confused.
    return undefined;
  }
}

function usage(message: string, next: string): SquadError {
  return new SquadError({ code: 'usage', message, next });
}
