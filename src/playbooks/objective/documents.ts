/** A document of a stage: what it is for, its sections in order, and how to write it. */
export interface DocumentText {
  readonly path: string;
  readonly task: string;
  /** Each heading, and what belongs below it. */
  readonly sections: readonly (readonly [heading: string, about: string])[];
  readonly rules: readonly string[];
  /** For the reviewers, and for the author to check before it is done. */
  readonly good?: string;
}

const EVERY = [
  'If a command that you ran has left files behind, remove them.',
  'Put text below every heading. If there is nothing to say, write one sentence that says so and why.',
];

/** The brief of a stage that writes a document. squad adds the path, and which documents to read first. */
export function documentBrief({ task, sections, rules, good }: DocumentText): string {
  return [
    task,
    'Give the document these headings, in this order:',
    sections.map(([heading, about]) => `- \`## ${heading}\`: ${about}`).join('\n'),
    [...rules, ...EVERY].map((rule) => `- ${rule}`).join('\n'),
    ...(good === undefined ? [] : [`The document is good when ${good}`]),
  ].join('\n\n');
}

export const SETUP: DocumentText = {
  path: 'setup.md',
  task: `Prepare the work. All others read your document first, so that none of them has to explore the repository from the beginning.
Look at the layout of the repository, its own notes (README, CONTRIBUTING, AGENTS.md and the like), and how it is built and tested.`,
  sections: [
    ['Objective', 'what is asked for, in at most five sentences of your own, and what is not asked for'],
    ['Repository', 'the folders and files that matter here, one line each, and the rules that its notes set'],
    ['Commands', 'how to install, build, run and test; for each command whether you ran it and what came out'],
    ['Assumptions', 'what the objective leaves open, and what the squad assumes about it'],
  ],
  rules: [
    'Run the tests once, so that later stages know which failures were there before.',
    'Do not plan the solution yet.',
  ],
};

export const BUSINESS_PROBLEM: DocumentText = {
  path: 'problem_statement.md',
  task: 'Describe the problem behind the objective. The specification and every later review are measured by your document.',
  sections: [
    ['Problem', 'what is missing or wrong today, with what the product does now'],
    ['Users', 'who has the problem, and what they are trying to do'],
    ['Outcome', 'what they can do afterwards that they cannot do today, and how that is noticed'],
    ['Out of scope', 'what a reader could expect and will not get'],
  ],
  rules: ['Propose no solution. Name no function, library or screen that does not exist yet.', 'Keep it to one page.'],
};

export const SPEC: DocumentText = {
  path: 'feature_spec.md',
  task: `Specify what is to be built. Builders who know only your document and the repository build from it, and reviewers accept or
reject by it.`,
  sections: [
    ['Overview', 'the feature in one paragraph, and how it solves the problem statement'],
    ['Requirements', 'numbered R1, R2, …: what the product does, with input and output; each can be checked'],
    ['Edge cases', 'wrong, empty and very large input, missing rights, failure half-way; what happens in each'],
    ['Acceptance', 'for every success criterion of the objective the requirements that meet it, and how to check them'],
    ['Decisions', 'what was open, how you decided, and why'],
  ],
  rules: [
    'Respect every constraint of the objective.',
    'Say what the product does, not how the code is structured.',
    'Use “must”. A requirement with “should”, “fast” or “user-friendly” cannot be checked.',
  ],
  good: `every success criterion is covered, no requirement contradicts another one or the objective, and two builders who read it
would build the same thing.`,
};

export const RESEARCH: DocumentText = {
  path: 'research.md',
  task: 'Find out how the specification can be built here. The plan follows your recommendation.',
  sections: [
    ['Existing code', 'the files and functions that it touches, how they work, and what can be used as it is'],
    ['Options', 'the ways that would work, each with its cost and its drawback; one is enough if there is only one'],
    ['Recommendation', 'the option to take, why, and what it changes in which files'],
    ['Risks', 'what could go wrong, and how to notice it early'],
  ],
  rules: [
    'Try out what you are not sure of, in the folder or outside of it, and remove it afterwards. Report what you saw.',
    'Prefer what the repository already has. A new dependency needs a reason.',
    'Write no product code.',
  ],
};

export const TEST_STRATEGY: DocumentText = {
  path: 'test_strategy.md',
  task: 'Decide how the work is tested. Builders write their tests by your document, and the stage TEST runs them all.',
  sections: [
    ['Approach', 'which kinds of tests are needed here and which are not, and where they belong in the repository'],
    [
      'Cases',
      'numbered T1, T2, …: for each requirement of the specification its input and expected result, wrong input too',
    ],
    ['Commands', 'the commands that run the tests, exactly as they are typed in a fresh clone'],
    ['Not tested', 'what is left out, and why'],
  ],
  rules: ['Use the test tools that the repository has.', 'Write no tests yet.'],
};

export const PLAN: DocumentText = {
  path: 'plan.md',
  task: `Plan the work. Builders work on several tasks at the same time, each in a clone of their own. A task sees the work of the
tasks that it needs, and of no others.`,
  sections: [
    ['Approach', 'how the parts fit together, and which names and interfaces the tasks share'],
    ['Tasks', 'each task with its id: what it builds, its files, its tests'],
    ['Order', 'what needs what and why, and what is built at the same time'],
    ['Risks', 'where the tasks could collide, and what to check after the merge'],
  ],
  rules: [
    'Plan as few tasks as the work needs. Two or more that can be built at the same time are good where the work divides by itself; never divide one thing for its own sake.',
    'Each task carries its own tests. Plan no task for review, merge, deployment or a final test: later stages do these.',
    'Describe every interface that two tasks share so exactly that both can build against it.',
  ],
  good: `every requirement belongs to a task, each brief can be built without asking, and tasks that run at the same time change
different files.`,
};

/** squad adds the form of the answer. */
export const PLAN_ANSWER = `Once the document is committed, answer with the same tasks. A \`brief\` stands alone: its reader has the documents, but
not your reasoning. \`paths\` has every file and folder that the task may create or change, its tests included: nothing else may
change. \`acceptance\` is what a reviewer can check: a command that passes, a behaviour with its input and output.`;

export const TEST: DocumentText = {
  path: 'test_report.md',
  task: `Test the merged work, all tasks together. The judges of the next stage decide by your report and by what they see themselves. The
success criteria are:

{criteria}`,
  sections: [
    ['Summary', 'what was tested at which commit, and how it went'],
    [
      'Criteria',
      'for each success criterion by its number: met or not, the command and its exit code, or the file and line that show it',
    ],
    ['Cases', 'each case of the test strategy: passed, failed or not run, and what you saw'],
    ['Failures', 'each failure with the command, what was expected and what happened'],
  ],
  rules: [
    'Run every command of the test strategy and every command of a criterion, in this folder, after a fresh install.',
    'Then use the result as its user would, with wrong input too.',
    'Something passed only if you saw it pass. What you could not try counts as failed, with the reason.',
    'Fix nothing, even if it is one line: a failure becomes a task of its own.',
    'If this task is open again, test everything again and write the report anew.',
  ],
};
