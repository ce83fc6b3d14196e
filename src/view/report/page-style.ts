/** Light and dark by the reader's own choice, from a phone to a wide screen. Nothing is loaded. */
export const PAGE_STYLE = `:root{color-scheme:light dark;--back:#fff;--text:#1c2128;--soft:#59636e;--line:#d1d9e0;--panel:#f6f8fa;--good:#0f6b2f;--bad:#b3141f;--limit:#8a5a00;--bar:#1f6feb;--bar-text:#fff;--wait:#6e7781;--band:#6e77811a;--add:#dafbe1;--del:#ffebe9}
@media(prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--soft:#9da7b3;--line:#3d444d;--panel:#161b22;--good:#56d364;--bad:#ff7b72;--limit:#e3b341;--bar:#1f6feb;--bar-text:#fff;--wait:#8b949e;--band:#8b949e26;--add:#12361f;--del:#4a1a1d}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:76rem;background:var(--back);color:var(--text);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0}
h2{font-size:1.2rem;margin:2rem 0 .5rem;padding-bottom:.25rem;border-bottom:1px solid var(--line)}
h3{font-size:1rem;margin:1.25rem 0 .25rem}
.good{color:var(--good)}.bad{color:var(--bad)}
.outcome{font-size:1.1rem}
code,pre{font-family:ui-monospace,monospace;font-size:.85rem}
pre{margin:.5rem 0;padding:.5rem .75rem;background:var(--panel);border:1px solid var(--line);border-radius:.4rem;white-space:pre-wrap}
.wide{overflow-x:auto;margin:.5rem 0}
.wide:focus-visible,summary:focus-visible{outline:2px solid var(--bar);outline-offset:2px}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border:1px solid var(--line);min-width:4.5rem;overflow-wrap:break-word}
td{max-width:34rem}td code{white-space:nowrap}
td:last-child{min-width:9rem}
th{background:var(--panel)}
details{margin:.25rem 0;border:1px solid var(--line);border-radius:.4rem}
summary{padding:.35rem .75rem;cursor:pointer;background:var(--panel)}
details>*:not(summary){margin:.5rem .75rem}
.diff{padding:0;border:0;background:none;white-space:pre;overflow-x:auto}
.diff span{display:block;min-width:max-content;min-height:1.3em}
.diff .add{background:var(--add)}.diff .del{background:var(--del)}.diff .hunk{color:var(--soft)}
.soft,footer{color:var(--soft)}
svg{min-width:44rem;width:100%;height:auto;display:block;font:12px system-ui,sans-serif}
svg text{fill:var(--text)}svg .tick-text{fill:var(--soft)}.tick{stroke:var(--line)}
.bar{stroke:var(--back)}.bar.completed{fill:var(--bar)}.bar.failed{fill:url(#failed)}.bar.limit{fill:url(#limit)}.bar.wall{fill:url(#wall)}.bar.live{fill:none;stroke:var(--bar);stroke-dasharray:4 2}
svg .bar-text{fill:var(--bar-text)}.bar.live~.bar-text{fill:var(--text)}
.bad-fill{fill:#b3141f}.limit-fill{fill:#8a5a00}.stripe{fill:#0003}
.wait-band{fill:var(--band)}.wait{fill:var(--wait)}.wait.answer{fill:none;stroke:var(--wait);stroke-width:2}.wait.resume{fill:none;stroke:var(--wait);stroke-width:2;stroke-dasharray:3 3}
@media print{details>*{display:block}}
`;
