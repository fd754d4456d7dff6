// Light, dark, or as the system is; and the style's colours for canvases, which know no variables.

const CHOICES = ['auto', 'light', 'dark'];
const KEY = 'dripline-theme';
const listeners = [];
let known = null;

/** The style's colours by their names, as a canvas takes them. */
export function colors() {
  if (known) return known;
  const probe = document.createElement('span');
  document.body.append(probe);
  known = new Proxy({}, {
    get(found, name) {
      if (typeof name !== 'string') return undefined;
      if (!(name in found)) {
        probe.style.color = `var(--${name})`;
        document.body.append(probe);
        found[name] = getComputedStyle(probe).color;
        probe.remove();
      }
      return found[name];
    },
  });
  return known;
}

/** The same with another opacity. */
export function faded(color, alpha) {
  const [r, g, b] = color.match(/[\d.]+/g);
  return `rgba(${r}, ${g}, ${b}, ${alpha})`;
}

/** Letters on canvases. */
export const font = (size) => `${size}px ${getComputedStyle(document.body).fontFamily}`;

/** Calls back whenever colours are others. */
export const onTheme = (listener) => listeners.push(listener);

function changed() {
  known = null;
  for (const listener of listeners) listener();
}

/** Takes what was chosen before, and makes the button choose the next. */
export function start(button) {
  let choice = 'auto';
  try {
    choice = localStorage.getItem(KEY) ?? 'auto';
  } catch {
    // a browser may forbid it; then it is chosen anew each time
  }
  const set = (next) => {
    choice = CHOICES.includes(next) ? next : 'auto';
    document.documentElement.dataset.theme = choice;
    button.textContent = `Theme: ${choice}`;
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      // as above
    }
    changed();
  };
  set(choice);
  button.addEventListener('click', () => set(CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length]));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed);
}
