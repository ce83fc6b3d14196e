import { describe, expect, it } from 'vitest';
import { launchOf } from '../../src/model/launchers.ts';

const of = (line: string) => launchOf(line.split(' ')).launch;
const WRAPPED = [
  '',
  'env ',
  'env A=1 B=2 ',
  'exec ',
  'nice -n 5 ',
  'timeout -k 5 30 ',
  'sudo -u me ',
  'nohup ',
  '/usr/bin/env ',
];
const LOOKS = [
  ...[
    'npm run lint',
    'npm test',
    'npm start',
    'pnpm run x',
    'yarn lint',
    'yarn',
    'bun run x',
    'bun test',
    'node --run x',
  ],
  ...[
    'make',
    'make check',
    'just lint',
    'task x',
    'cargo run',
    'cargo test',
    'go run .',
    'go run ./cmd/x',
    'go test ./...',
  ],
  ...[
    'uv run server.py',
    'poetry run x',
    'bundle exec rake',
    'git diff --check',
    'deno task x',
    'nix run .',
    'mise x node',
  ],
  ...['pre-commit run', 'jest', './node_modules/.bin/jest', 'npm exec', 'make -C sub check', 'npm --prefix . run x'],
];
const DOWNLOADS: Readonly<Record<string, readonly string[]>> = {
  'npx -y tickets-mcp': ['tickets-mcp'],
  'npx tickets-mcp --root x': ['tickets-mcp'],
  'npx --registry https://r.example.org tickets-mcp': ['tickets-mcp'],
  'npx -p @scope/desk desk': ['@scope/desk'],
  'npx --package=desk@1 -- desk': ['desk@1'],
  'npm exec -- desk': ['desk'],
  'npm x desk': ['desk'],
  'npm create vite': ['vite'],
  'pnpm dlx desk': ['desk'],
  'yarn dlx -p desk desk': ['desk'],
  'bunx desk': ['desk'],
  'bun x desk': ['desk'],
  'uvx --python 3.12 desk': ['desk'],
  'uvx --from git+https://example.org/desk desk': ['git+https://example.org/desk'],
  'uv tool run desk': ['desk'],
  'uv run --with mcp mcp run': ['mcp'],
  'pipx run desk': ['desk'],
  'deno run -A npm:desk': ['npm:desk'],
  'deno run https://example.org/desk.ts': ['https://example.org/desk.ts'],
  'go run example.org/desk@v1': ['example.org/desk@v1'],
  'nix run nixpkgs#hello': ['nixpkgs#hello'],
};
const SCRIPTS: Readonly<Record<string, string>> = {
  'node tools/x.mjs --port 1': 'tools/x.mjs',
  'node --import tsx server.ts': 'server.ts',
  'python3.12 -X dev server.py': 'server.py',
  'sh -e tools/x.sh': 'tools/x.sh',
  'bash -o pipefail tools/x.sh': 'tools/x.sh',
  'deno run -A --config d.json x.ts': 'x.ts',
  'bun server.ts': 'server.ts',
  'ruby -I lib x.rb': 'x.rb',
};
const PLAIN = [
  ...[
    'desk --stdio',
    '/opt/desk',
    'node -e x',
    'node --eval=x',
    'python -m desk',
    'python3 -c x',
    'perl -ne x',
    'node',
  ],
  ...[
    'npm --prefix /opt/desk run x',
    'make -C /opt/desk x',
    'uv --directory /opt/desk run x',
    'cargo --manifest-path=/a run',
  ],
  ...['docker run -i desk', 'git-lfs x', 'remake', 'nodemon-like x', 'npx /opt/desk'],
];

describe.each(WRAPPED)('behind “%s”', (before) => {
  it.each(LOOKS)('%s looks into its folder', (line) => {
    expect(of(before + line).type).toBe('looks');
  });

  it.each(Object.entries(DOWNLOADS))('%s fetches %j', (line, names) => {
    expect(of(before + line)).toMatchObject({ type: 'downloads', names });
  });

  it.each(Object.entries(SCRIPTS))('%s runs %s', (line, script) => {
    const found = of(before + line);
    const words = (before + line).split(' ');
    expect('at' in found && typeof found.at === 'number' ? words[found.at] : found).toBe(script);
  });

  it.each(PLAIN)('%s is what it says', (line) => {
    expect(of(before + line)).toEqual({ type: 'plain' });
  });
});

it('finds the text of a shell, and words that nobody can split', () => {
  expect(launchOf(['bash', '-ec', 'npx x', 'y']).launch).toEqual({ type: 'shell', at: 2 });
  expect(launchOf(['env', 'A=1', 'sh', '-c', undefined]).launch).toEqual({ type: 'shell', at: 4 });
  expect(launchOf(['env', '-S', 'node x']).launch.type).toBe('looks');
  expect(launchOf([]).launch).toEqual({ type: 'plain' });
  expect(launchOf([undefined, 'x']).launch).toEqual({ type: 'plain' });
});
