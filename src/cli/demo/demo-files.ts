/** The repository that the demo starts from: a user's files, and the files that a user writes for squad. */
export const DEMO_FILES = {
  'README.md': '# Greeting\n\nA program that greets.\n',
  'greet.js': "console.log('hello');\n",
  'check.sh':
    '#!/bin/sh\n# What must hold for the whole repository.\nset -e\nnode greet.js squad | grep -q "hello, squad"\n[ ! -e bye.js ] || node bye.js squad | grep -q "goodbye, squad"\n',
  'objective.md': `# Objective: Greet by name, and say goodbye

## Goals

1. greet.js greets the name in its argument
2. bye.js says goodbye the same way
3. README.md shows how to use both

## Success criteria

- [ ] It greets by name (run: \`node greet.js squad | grep "hello, squad"\`)
- [ ] It says goodbye by name (run: \`node bye.js squad | grep "goodbye, squad"\`)
- [ ] The README names both programs (run: \`grep greet.js README.md && grep bye.js README.md\`)
`,
} as const;

export function demoSettings(script: string): string {
  return `version: 1
agents:
  - { name: planner, role: planner, runtime: scripted, access: read-only }
  - { name: builder-1, role: builder, runtime: scripted, access: edit }
  - { name: builder-2, role: builder, runtime: scripted, access: edit }
  - { name: reviewer, role: reviewer, runtime: scripted, access: read-only }
runtimes:
  scripted: { config: { script: ${JSON.stringify(script)} } }
verify:
  - { run: "sh check.sh", minutes: 1 }
`;
}
