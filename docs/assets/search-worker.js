/* Search on a page opened as a file. Browsers start no worker from `file:`, so its script runs in a
   hidden frame, which passes messages on as a worker does. Served pages keep the browser's workers. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      window.addEventListener("message", (event) => {
        if (event.source !== this.frame.contentWindow) return;
        this.dispatchEvent(new MessageEvent("message", { data: event.data }));
        if (this.onmessage) this.onmessage(event);
      });
      const inner = this.frame.contentWindow;
      inner.document.open();
      inner.document.write(`<!doctype html><body><script>
        window.postMessage = (data) => parent.postMessage(data, "*");
        window.importScripts = (...urls) => urls.reduce((done, url) => done.then(() => new Promise((next) => {
          const script = document.createElement("script");
          script.src = url; script.onload = next; document.body.appendChild(script);
        })), Promise.resolve());
      <\/script><script src="${url}"><\/script>`);
      this.loaded = new Promise((ready) => this.frame.addEventListener("load", ready, { once: true }));
      inner.document.close();
    }
    postMessage(data) {
      const pass = () => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
      this.loaded.then(pass);
    }
    terminate() { this.frame.remove(); }
  };
}
