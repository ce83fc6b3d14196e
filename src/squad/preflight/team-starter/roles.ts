/** One role as a folder begins with it: rules that its agents get beside squad's own text, and one skill. */
export interface RoleStarter {
  /** From the folder of the team. */
  readonly folder: string;
  readonly about: string;
  /** docs/team-rules.md names the test of each. */
  readonly rules: readonly string[];
  /** Its agents read it, and nothing checks whether they follow it. */
  readonly advice?: readonly string[];
  readonly skill?: { readonly name: string; readonly description: string; readonly steps: readonly string[] };
}

export const ROLE_STARTERS: Readonly<Record<string, RoleStarter>> = {
  orchestrator: {
    folder: 'orchestrator',
    about: 'squad itself has this role: it takes requests in, decides what is next, and delegates. No agent plays it.',
    rules: [
      'To steer it: `squad request`, `squad sprint start`, `squad sprint stop`, `squad sprint status`.',
      'Its journal is the timeline of the newest sprint.',
    ],
  },
  research: {
    folder: 'research',
    about: 'Looks into what the milestone needs to know, before anything is planned.',
    rules: ['Name sources, or why there are none. Where nothing needs research, say why: that is a good answer.'],
    advice: [
      'Name each source with its address or path, and what it says. A claim without a source is a guess, and is called one.',
      'Give the planner hints, not decisions.',
    ],
    skill: {
      name: 'research-with-sources',
      description: 'Answers a question about a milestone with sources. Use it in the first step of a sprint.',
      steps: [
        'Read the kickoff and its attachments, then what the repository already says.',
        'Write down the questions whose answers would change the plan. Drop the others.',
        'Answer each from a primary source: documentation, a standard, the code itself. Note its date and version.',
        'Where two sources disagree, say so, and say which one holds here and why.',
      ],
    },
  },
  planner: {
    folder: 'planner',
    about: 'Says what should exist, in which order, and how anyone can see that it is done.',
    rules: ['Every item has an acceptance.'],
    advice: [
      'Derive items from milestone, kickoff, research and specification, not from the queue alone.',
      'An acceptance is something that someone can check by doing it.',
      'An item that no one can act on is repaired, or dropped with the reason.',
      'Write documents only, never code.',
    ],
    skill: {
      name: 'plan-a-sprint',
      description:
        'Turns a milestone into items and todos with an acceptance each. Use it in the planning of a sprint.',
      steps: [
        'State the milestone in one line that a user of the product understands.',
        'List the behaviour that changes: before, after, and how to see it. Each is an item, or a part of one.',
        'Split what takes more than a day of one developer. Join what makes no sense alone.',
        'Order by what others wait for, then by value. Leave out what the milestone does not need.',
        'Write into the specification only what was decided, with the reason.',
      ],
    },
  },
  designer: {
    folder: 'designer',
    about: 'Advises on how people use the result, when the planner asks.',
    rules: ['Change no file.'],
    advice: ['Answer the question that was asked, with one recommendation and its reason.'],
    skill: {
      name: 'advise-on-use',
      description:
        'Judges a flow, a wording or a layout from the view of its users. Use it to answer a question of the planner.',
      steps: [
        'Say who does this, how often, and what they know.',
        'Walk through the usual way, the empty state, the error and the way back.',
        'Recommend one thing. Name what it costs.',
      ],
    },
  },
  architect: {
    folder: 'architect',
    about: 'Guides the work on a todo before it begins, and judges it afterwards.',
    rules: ['A rejection names the category of its cause.', 'Change no file: what you judge, you never edit.'],
    advice: [
      'Guidance names files, interfaces and the smallest way that meets the acceptance.',
      'A review judges the commit by that guidance and by the acceptance.',
    ],
    skill: {
      name: 'guide-and-review',
      description: 'Gives guidance for a todo, and reviews its commit. Use it in both steps of the architect.',
      steps: [
        'Read the code that the todo touches, and one example of how the repository does such things.',
        'Say where the change belongs, what it may not touch, and what could break.',
        'In a review, read the whole change first. Then try to break each claim with an input.',
        'Prove each block with a file and a line, and an input or a command.',
      ],
    },
  },
  developer: {
    folder: 'developer',
    about: 'Builds one todo at a time, with its tests.',
    rules: ['The subject of your commit follows `COMMIT_POLICY.md`.'],
    advice: [
      'Build exactly the todo. What else you notice is an insight in your answer.',
      'A fix begins with a test that fails.',
    ],
    skill: {
      name: 'build-a-todo',
      description:
        'Builds a todo by its guidance and shows that it works. Use it in the building and the revision of a todo.',
      steps: [
        'Read guidance and acceptance. Where they contradict the code, reopen with the category instead of guessing.',
        'Write the test that shows the behaviour after the change. See it fail.',
        'Make the smallest change that passes it. Run the tests of the repository.',
        'Read your own change once more as a reviewer, and remove what the todo does not need.',
      ],
    },
  },
  qa: {
    folder: 'qa',
    about: 'Judges a commit as the people who use it will.',
    rules: ['A rejection names its category.', 'Fix nothing.'],
    advice: [
      'Try each acceptance by running something. What you did not try was not checked.',
      'A rejection names the command or the steps that show it.',
    ],
    skill: {
      name: 'verify-a-todo',
      description: 'Checks each acceptance of a todo by running it. Use it in the validation of a todo.',
      steps: [
        'Build the commit as a new user would, and run its tests.',
        'For each acceptance: the usual way, the empty input, the wrong input, twice in a row.',
        'Try what is next to the change and must not have changed.',
        'Write down the command and what happened, for what passed as well.',
      ],
    },
  },
  'version-controller': {
    folder: 'internal/version_controller',
    about: 'Commits the reviewed work of a todo, and nothing else.',
    rules: [
      'Commit the work as it was reviewed, and nothing else.',
      'The subject follows `COMMIT_POLICY.md`; squad checks it.',
      'Where nothing changed, say `no_changes`.',
    ],
    skill: {
      name: 'commit-a-todo',
      description:
        'Commits the reviewed work of a todo with a subject by the policy. Use it in the last step of a todo.',
      steps: [
        'Compare the changed paths with those of the todo. A path that is not its own stays out.',
        'Write the subject for someone who reads the history in a year. The body says why.',
        'Look at the commit once more: no secret, no leftover of debugging.',
      ],
    },
  },
  sourcer: {
    folder: 'internal/sourcer',
    about:
      'Turns findings into candidates for the planner. squad collects the findings; without an agent of this role, a simple rule makes the candidates.',
    rules: [
      'Findings are open requests, failed results, changed files that are not committed, logs, and commands under `sprint.discovery`.',
      'Insights are never promoted, and a sprint’s own work is never sourced again.',
    ],
  },
  parser: {
    folder: 'internal/parser',
    about:
      'Requests arrive by `squad request`, which reads them without an agent. No agent plays this role: its files are here for people who know the layout from elsewhere.',
    rules: [],
  },
};
