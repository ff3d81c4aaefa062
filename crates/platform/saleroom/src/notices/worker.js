// Shows a notice while no page of the saleroom is open, and opens its page. The words come with the notice.
"use strict";

/** The first page of the house, with a slash: this file is two levels below it. */
const house = new URL("..", location.href).href;

self.addEventListener("push", (event) => {
  const { title, body, path, tag } = event.data?.json() ?? {};
  if (!title) return;
  event.waitUntil(self.registration.showNotification(title, { body, tag, data: { address: new URL(path, house).href } }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { address } = event.notification.data;
  const show = async () => {
    const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
    const open = pages.find((page) => page.url === address);
    return open ? open.focus() : self.clients.openWindow(address);
  };
  event.waitUntil(show());
});
