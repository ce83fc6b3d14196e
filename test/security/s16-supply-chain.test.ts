import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const text = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const manifest = z
  .object({
    dependencies: z.record(z.string(), z.string()),
    devDependencies: z.record(z.string(), z.string()),
    scripts: z.record(z.string(), z.string()),
    allowScripts: z.record(z.string(), z.boolean()),
  })
  .parse(JSON.parse(text('package.json')));
const lock = z
  .object({
    lockfileVersion: z.number(),
    packages: z.record(
      z.string(),
      z.object({
        version: z.string().optional(),
        dev: z.boolean().optional(),
        optional: z.boolean().optional(),
        hasInstallScript: z.boolean().optional(),
        integrity: z.string().optional(),
        resolved: z.string().optional(),
      }),
    ),
  })
  .parse(JSON.parse(text('package-lock.json')));
const installed = Object.entries(lock.packages).filter(([path]) => path !== '');

describe('S16: what squad is made of', () => {
  it('S16: at most 90 packages come with it', () => {
    const own = installed.filter(([, one]) => one.dev !== true);
    expect(own.length).toBeGreaterThan(Object.keys(manifest.dependencies).length - 1);
    expect(own.length).toBeLessThanOrEqual(90);
  });

  it('S16: none of them has a script to run where it is installed; of the others only those on the list', () => {
    const scripts = installed.filter(([, one]) => one.hasInstallScript === true);
    expect(scripts.filter(([, one]) => one.dev !== true)).toEqual([]);
    const allowed = Object.keys(manifest.allowScripts).map((name) => `node_modules/${name}`);
    expect(scripts.map(([path]) => path).filter((path) => !allowed.includes(path))).toEqual([]);
    for (const name of ['preinstall', 'install', 'postinstall', 'prepare'])
      expect(manifest.scripts[name]).toBeUndefined();
  });

  it('S16: every version is exact, and every package is known by its content', () => {
    const wanted = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(wanted.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
    expect(wanted.filter(([name, version]) => lock.packages[`node_modules/${name}`]?.version !== version)).toEqual([]);
    expect(installed.filter(([, one]) => one.integrity?.startsWith('sha512-') !== true).map(([path]) => path)).toEqual(
      [],
    );
  });

  it('S16: the lock names no registry, so that it holds for whichever one is used', () => {
    expect(installed.filter(([, one]) => one.resolved !== undefined)).toEqual([]);
    expect(text('package-lock.json')).not.toMatch(/https?:\/\/[^"]*(?:registry|npmjs\.org\/-|artifactory|\.tgz)/i);
  });

  it('S16: no code of a repository is loaded: modules are named where they are imported', () => {
    const source = join(ROOT, 'src');
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.m?ts$|\.mjs$/.test(name),
    );
    const dynamic = files.flatMap((name) =>
      [
        ...text(join('src', name)).matchAll(/\bimport\(\s*(?!')|\brequire\(\s*(?!')|createRequire\([^)]*\)\((?!')/g),
      ].map(() => name),
    );
    expect(dynamic).toEqual([]);
    expect(
      // The table of launchers names them, to refuse them, and the one of interpreters, to find what a check runs.
      files
        .filter((name) => name !== 'model/launchers.ts' && name !== 'model/checker/checked-with.ts')
        .filter((name) =>
          /cosmiconfig|jiti|tsx|(?:squad|agentsquad)\.config\.[cm]?[jt]s/.test(text(join('src', name))),
        ),
    ).toEqual([]);
  });
});
