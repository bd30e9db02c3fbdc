console.log('placeholder until the core is merged');
