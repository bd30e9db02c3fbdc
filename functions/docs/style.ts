/** The page's one style sheet; its hash stands in the page's content security policy. */
export const STYLE = `
:root { color-scheme: light dark; --text: #16191f; --soft: #4a5568; --back: #ffffff; --panel: #f4f6f8; --line: #d0d7de; --link: #0a58ca; --get: #0b6b3a; --change: #8a4b00; --delete: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ee; --soft: #a9b4c2; --back: #12161c; --panel: #1b212a; --line: #394452; --link: #8ab4f8; --get: #6fd39b; --change: #f0b866; --delete: #ff9d94; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; display: grid; grid-template-columns: minmax(14rem, 19rem) minmax(0, 1fr); color: var(--text); background: var(--back); font: 1rem/1.55 system-ui, sans-serif; }
a { color: var(--link); }
a:focus-visible, pre:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; padding: 0.5rem 1rem; background: var(--back); }
header { grid-column: 1 / -1; padding: 1rem 2rem; border-bottom: 1px solid var(--line); }
header p { margin: 0; color: var(--soft); }
h1 { margin: 0; font-size: 1.6rem; }
nav { position: sticky; top: 0; max-height: 100vh; overflow-y: auto; padding: 1rem 1.5rem; border-right: 1px solid var(--line); font-size: 0.9rem; }
nav h2 { margin: 1rem 0 0.25rem; font-size: 1rem; }
nav ul { margin: 0; padding: 0; list-style: none; }
nav a { display: block; padding: 0.15rem 0; text-decoration: none; }
nav a:hover { text-decoration: underline; }
main { padding: 1rem 2rem 4rem; max-width: 70rem; }
article { margin: 1.5rem 0; padding: 0 1.25rem 1.25rem; border: 1px solid var(--line); border-radius: 0.5rem; }
h3 a { color: inherit; text-decoration: none; }
h4 { margin: 1.25rem 0 0.25rem; }
code, pre { font: 0.9em/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { margin: 0.5rem 0; padding: 0.75rem 1rem; background: var(--panel); border-radius: 0.4rem; white-space: pre-wrap; }
.route { padding: 0.4rem 0.75rem; background: var(--panel); border-radius: 0.4rem; }
.method { display: inline-block; min-width: 4.5em; font-weight: 700; color: var(--change); }
.method.get { color: var(--get); }
.method.delete { color: var(--delete); }
.note { color: var(--soft); font-size: 0.85em; font-weight: 400; }
.refusals { margin: 0; padding-left: 1.25rem; }
table { width: 100%; border-collapse: collapse; font-size: 0.9rem; }
th, td { padding: 0.35rem 0.5rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: anywhere; }
thead th { color: var(--soft); min-width: 4.5rem; }
thead th:first-child { min-width: 10rem; }
tbody th { font-weight: 400; }
@media (max-width: 50rem) { body { display: block; } nav { position: static; max-height: none; border-right: 0; border-bottom: 1px solid var(--line); } }
@media print { nav { display: none; } body { display: block; } }
`;
