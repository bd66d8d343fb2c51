// What is wrong in web/ without being run: `npm run lint`, or `make lint` where node_modules are there. Form is left to whoever writes.

import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["node_modules/"] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2022, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "array-callback-return": "error",
      "consistent-return": "error",
      "default-case-last": "error",
      eqeqeq: "error",
      "no-constructor-return": "error",
      "no-eval": "error",
      "no-implicit-coercion": ["error", { allow: ["!!"] }],
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-promise-executor-return": "error",
      "no-self-compare": "error",
      "no-shadow": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "no-use-before-define": ["error", { functions: false, classes: false, variables: false }],
      "no-var": "error",
      "prefer-const": "error",
      // Names of nodes, links and flows are text, whatever is in them.
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "names are shown as text: use make() of text.js" },
        { property: "outerHTML", message: "names are shown as text: use make() of text.js" },
        { property: "insertAdjacentHTML", message: "names are shown as text: use make() of text.js" },
        { object: "document", property: "write", message: "names are shown as text" },
      ],
    },
  },
  { files: ["src/**"], languageOptions: { globals: globals.browser } },
  { files: ["tests/**", "*.mjs"], languageOptions: { globals: globals.node } },
];
