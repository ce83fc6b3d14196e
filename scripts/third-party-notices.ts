// A build plugin: `dist` holds code of others, whose licences ask to be named beside it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const chunkSchema = z.object({ moduleIds: z.array(z.string()) });
const manifestSchema = z.object({ name: z.string(), version: z.string(), license: z.string() });

interface PluginContext {
  emitFile(file: { type: 'asset'; fileName: string; source: string }): unknown;
}

/** Writes the licence of every package that the bundle took in to `fileName`. */
export function thirdPartyNotices(fileName: string) {
  return {
    name: 'third-party-notices',
    generateBundle(this: PluginContext, _options: unknown, bundle: Readonly<Record<string, object>>): void {
      const modules = Object.values(bundle).flatMap((output) => chunkSchema.safeParse(output).data?.moduleIds ?? []);
      const folders = [...new Set(modules.flatMap(packageFolder))].sort();
      const source = folders.map(notice).join(`\n\n${'-'.repeat(80)}\n\n`);
      if (folders.length > 0) this.emitFile({ type: 'asset', fileName, source: `${source}\n` });
    },
  };
}

/** The innermost `node_modules/<name>` that a module lies in. */
function packageFolder(id: string): string[] {
  const match = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(id.replace(/^\0/, ''));
  return match?.[1] === undefined ? [] : [match[1]];
}

function notice(folder: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { name, version, license } = manifestSchema.parse(manifest);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text =
    file !== undefined && existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8').trim() : '';
  return `${name} ${version} (${license})${text === '' ? '' : `\n\n${text}`}`;
}
