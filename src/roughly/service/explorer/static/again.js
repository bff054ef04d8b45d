// A page that is not ready is loaded again after three seconds.
setTimeout(() => location.reload(), 3000);
