import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LANE, TAGS } from './test/support/lane.ts';

/** Start no process, open no file and no database, and change nothing in memory that others see. */
const PURE = [
  'test/rules/**/*.test.ts',
  'test/model/**/*.test.ts',
  'test/squad/objective/**/*.test.ts',
  'test/playbooks/**/*.test.ts',
  'test/view/report/**/*.test.ts',
  'test/squad/settings/**/*.test.ts',
  'test/text/**/*.test.ts',
  'test/cli/render/**/*.test.ts',
  'test/runtimes/{claude,codex}/{command,translate,verdict,captures}.test.ts',
];
/** Use files, databases and child processes, and leave nothing in the process that they run in. */
const TIDY = [
  'test/*.test.ts',
  'test/engine/attempts/**/*.test.ts',
  'test/engine/checks/{judge-check,notify-command,resume-checks}.test.ts',
  'test/bench/*.test.ts',
  'test/cli/{mail,mcp}/**/*.test.ts',
  'test/cli/{call-person,folder-check,isolation-check,objective-argument,output,tracing-check}.test.ts',
  'test/cli/board/{any-frame,frame,keys,layered-map,paint,recorded-frame}.test.ts',
  'test/cli/{ask/ask-plan,ask/asking,ask/plan-lines,report/report-lines,team/parts}.test.ts',
  'test/cli/{after,clean,commands,db,help,json-errors,looking-commands,request,retry,run-argument,uninstall,watch}.test.ts',
  'test/cli/{completion,excess-words,consent-pages,consent-terminal,doctor-trust,drop-foreign,end-code,help-examples}.test.ts',
  'test/cli/{init-questions,loaded-modules,locks,places,session-check,state}.test.ts',
  'test/docs/{numbers,objective-table,pages,trust-table,workflows}.test.ts',
  'test/embed/{answers,messages,run-identity,squad-graph,squad-graph-calls,squad-node,squad-tool}.test.ts',
  'test/environments/*.test.ts',
  'test/examples/{council-objective,forty-line-runtime,session,stage-lists,thirty-line-playbook}.test.ts',
  'test/engine/*.test.ts',
  'test/graph/*.test.ts',
  'test/malformed/**/*.test.ts',
  'test/engine/operations/**/*.test.ts',
  'test/squad/{preflight,team}/**/*.test.ts',
  'test/view/*.test.ts',
  // The agents of the two others are caged (test/support/on-disk.ts).
  'test/runs/!(acp-ask|antigravity).test.ts',
  'test/runtimes/{acp,antigravity,scripted}/{command,kept-session,policy,script,translate,verdict}.test.ts',
  'test/runtimes/{claude/look-up,codex/probe,replay,runtimes-docs,scripted/conformance}.test.ts',
  'test/runtimes/shared/{child-environment,clock-changes,network,text-answer}.test.ts',
  'test/runtimes/shared/{hooks,limit-notice,output-check,requests,skills,transcript,turn-life,turn-verdict,usage-check,watchdog}.test.ts',
  'test/security/{s1-hostile-mail,s2-paths,s4-shell,s5-arguments,s6-clones,s9-entries,s9-s13-whole-run,s9-secrets}.test.ts',
  'test/security/{programs,s1-session-answers,s1-session-run,s14-full-access,s7-repository-config,s9-other-shell}.test.ts',
  'test/security/{s10-forgery,s11-state,s13-output,s16-supply-chain,s17-parsers,s18-windows}.test.ts',
  'test/simulation/{clock,council,deadline,cost-guard,oracle,rate-limits,replay-identity,simulation}.test.ts',
  'test/engine/sinks/**/*.test.ts',
  'test/squad/sources/**/*.test.ts',
  'test/squad/*.test.ts',
  'test/studio/{conversation,decide-request,edit,guard,install-line,view}.test.ts',
  'test/substrate/{ledger,git/forge,system/files}/**/*.test.ts',
  'test/substrate/git/{agent-settings,gc,hard-repositories,hostile-folder,inspect-repository,integration}.test.ts',
  'test/substrate/{content-store,make-folder,state-place}.test.ts',
  'test/substrate/git/{after-cut,has-work,killed-merge,link-store,merge-checkout,moved-away,reset}.test.ts',
  'test/substrate/git/settled-folders.test.ts',
  'test/substrate/git/{parallel,plain-checkout,repository,worktrees}.test.ts',
  'test/substrate/system/process/{conversation,loopback-client,mcp-by-http,node-version,own-files,start-apart}.test.ts',
  'test/substrate/system/process/{identity,process-table,splitter,trim-output,turn-family}.test.ts',
  'test/engine/tracing/{sender,spans,target,traced-runs}.test.ts',
];
/** Programs of squad that a run in the process of a test starts: as `npm test` built them, they load in a third of the time. */
const programs = {
  name: 'built-programs',
  transform: (code: string) =>
    code.replace(
      /import\.meta\.url\.endsWith\((['"])\.ts\1\) \? (['"])\S+\2 : (['"])\.\/([a-z-]+\.mjs)\3/,
      (_, _1, _2, _3, program: string) => JSON.stringify(String(new URL(`dist/${program}`, import.meta.url))),
    ),
};
/** Examples import the package by its name. In the process of a test it is the sources, so that nothing is loaded twice. */
const byName = {
  name: 'agentsquad-by-name',
  enforce: 'pre' as const,
  resolveId(id: string) {
    const named = /^agentsquad(?:\/(\w+))?$/.exec(id);
    return named === null
      ? undefined
      : fileURLToPath(new URL(`src/exports/${named[1] ?? 'index'}.ts`, import.meta.url));
  },
};
const plugins = process.env['SQUAD_TEST_BUILT'] === '1' ? [byName, programs] : [byName];
/** In the other lanes, files without a test of theirs: to load them takes a minute. The last two words give tests their lanes. */
const OF_COMMIT =
  LANE === 'commit'
    ? []
    : readdirSync('test', { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.test.ts'))
        .map((name) => `test/${name}`)
        .filter((path) => !/\/lane\.ts'|@module-tag|vitestRunner|testEnvironments/.test(readFileSync(path, 'utf8')));
/** More than there are cores, because most tests of processes wait most of the time. */
const shared = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  maxWorkers: 6,
  setupFiles: [
    ...(process.env['SQUAD_PROCESSES'] === 'ps' ? ['test/support/by-ps.ts'] : []),
    ...(process.features.typescript ? [] : ['test/support/old-node.ts']),
  ],
};

export default defineConfig({
  test: {
    tags: TAGS,
    // A text that is not kept yet fails here as it does elsewhere; `vitest -u` keeps it.
    update: 'none',
    globalSetup: 'test/support/templates.ts',
    outputFile: { json: `test-results/${LANE}.json` },
    maxWorkers: shared.maxWorkers,
    projects: [
      {
        plugins,
        test: { ...shared, name: 'pure', include: PURE, exclude: OF_COMMIT, pool: 'threads', isolate: false },
      },
      { plugins, test: { ...shared, name: 'tidy', include: TIDY, exclude: OF_COMMIT, pool: 'forks', isolate: false } },
      {
        plugins,
        test: {
          ...shared,
          name: 'processes',
          include: ['test/**/*.test.ts'],
          exclude: ['test/live-cli/**', 'test/chaos/**', ...PURE, ...TIDY, ...OF_COMMIT],
          pool: 'forks',
        },
      },
    ],
  },
});
