// An .mjs file of Grafana takes this package's whole exports for its default: it shall be the component.
module.exports = require('./node_modules/react-custom-scrollbars-2/lib/index.js').Scrollbars;
