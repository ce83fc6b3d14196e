import type { Locale } from '../../model/locale.ts';

// Problems of a required document, in words for its author, in the two languages of `mail.locale`.

const EN = {
  absent: 'the document is not in your commit',
  notAFile: 'a folder, link or submodule is there, not a file',
  tooLarge: (kib: number) => `the document is larger than ${kib} KiB; shorten it`,
  notText: 'the document is not UTF-8 text',
  empty: 'the document is empty',
  noText: 'the document has no text besides headings and comments',
  missing: (heading: string) => `the heading “${heading}” is missing`,
  after: (heading: string, last: string) => `the heading “${heading}” must come after “${last}”`,
  bare: (heading: string) => `the heading “${heading}” has no text of its own below it`,
};

export type DocumentTexts = typeof EN;

const ZH: DocumentTexts = {
  absent: '你的提交中没有该文档',
  notAFile: '那里是目录、链接或子模块，而不是文件',
  tooLarge: (kib) => `文档大于 ${kib} KiB；请缩短`,
  notText: '文档不是 UTF-8 文本',
  empty: '文档为空',
  noText: '文档除标题和注释外没有正文',
  missing: (heading) => `缺少标题“${heading}”`,
  after: (heading, last) => `标题“${heading}”必须在“${last}”之后`,
  bare: (heading) => `标题“${heading}”下没有自己的正文`,
};

export function documentTexts(locale: Locale = 'en'): DocumentTexts {
  return locale === 'zh' ? ZH : EN;
}
